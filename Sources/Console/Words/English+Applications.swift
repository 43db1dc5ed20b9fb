extension English {
    /// The English texts about services, applications, external accounts and credentials.
    static let applicationTexts: [Phrase: String] = [
        // What stands in the menu and in lists of services.
        .menuServices: "Services",
        .servicesTitle: "Services and applications",
        .columnBundle: "Bundle id or package",
        .applicationsOf: "Applications of",
        .noApplicationsYet: "It has no application yet.",
        .noServices: "There is no service yet. An administrator declares one here, or with pushmta service add.",
        .firstServices: "Back to the first",
        .moreServices: "More services",
        .serviceDone: "The service is declared. Next: its applications.",
        .pairDone: "Both applications are declared. Next: give each its credential.",
        .addPairButton: "Add iOS pair",
        .addAndroidButton: "Add Android",
        // How an application stands.
        .standingReady: "ready",
        .standingCircuit: "circuit open",
        .standingTrouble: "gateway takes nothing",
        .standingNoAccount: "no account",
        .standingNoCredential: "no credential",
        .standingExpired: "credential expired",
        .standingExpires: "credential ends soon",
        .platformIOS: "iOS",
        .platformAndroid: "Android",
        .environmentSandbox: "sandbox",
        .environmentProduction: "production",
        // One application.
        .factEnvironment: "Environment",
        .factBundleID: "Bundle id",
        .factPackage: "Package name",
        .factMessageIDs: "Message ids",
        .factConnector: "Connector",
        .factGateway: "Gateway",
        .factLabel: "Label",
        .messageIDsUUID: "uuid: apps send the text back as it is",
        .messageIDsInt32: "int32: apps read it with Integer.valueOf",
        .noAccount: "none",
        .iconWords: "Icon",
        .circuitIsOpen: "Its circuit is open, no message is sent and none fails: {0}",
        .gatewayTakesNothing:
            "The gateway of account {0} has taken nothing for {1} ({2}). {3} messages wait and keep their "
            + "attempts; {4} probes were sent.",
        .gatewayRemedy: "Wait: sending goes on by itself when a probe is taken. “Send again now” tries at once.",
        .routeIsWrong: "Every message would be refused: {0}.",
        .credentialUnfit: "Its account speaks {0}, which does not take {1}.",
        .credentialUnfitRemedy: "Upload another credential, or choose another account with “Change”.",
        .accountInactive: "Account {0} is paused: nothing is sent through it.",
        .noAccountText: "It has no external account: a delivery has to name one.",
        .noAccountRemedy: "An administrator chooses one with “Change”.",
        .applicationDone: "The application is declared. Next: upload its credential.",
        .resumeDone:
            "Nothing holds it back any more: its messages are sent again. If the cause is still there, the "
            + "circuit opens again.",
        .credentialDone: "The credential is sealed and stored. Children take it up within seconds.",
        .credentialTitle: "Credential",
        .credentialNote: "The credential itself is sealed; nobody can read it here.",
        .noCredentialText: "It has no credential, so its gateway takes nothing. An administrator uploads one.",
        .credentialKind: "Kind",
        .credentialStored: "Stored",
        .credentialFingerprint: "Fingerprint (SHA-256)",
        .credentialOthers: "Shared with",
        .credentialAPNsKey: "APNs key (.p8)",
        .credentialCertificate: "APNs certificate (.p12)",
        .credentialServiceAccount: "service account (JSON)",
        .credentialProjectKey: "project key",
        .credentialKeyID: "Key id",
        .credentialTeamID: "Team id",
        .credentialProject: "Project",
        .credentialTopics: "Topics",
        .credentialEnvironments: "Environments",
        .credentialSubject: "Issued for",
        .expiryNever: "does not expire",
        .expiryOver: "expired on {0}, {1} ago",
        .expiryIn: "expires on {0}, in {1}",
        .snippetNote:
            "What the app’s developer pastes. The host is where devices reach pushmta web; put your own in the "
            + "place of",
        .declaredTitle: "What it declares",
        .declaresNothing: "Nothing: deliveries may use any variable and any sound.",
        .columnVariable: "Variable",
        .columnType: "Type",
        .columnDefault: "Default",
        .columnSound: "Sound",
        .columnParameter: "Subscription parameter",
        .columnKept: "Kept in",
        .soundOfSystem: "the system",
        // Letting an application send again.
        .resumeButtonOfApp: "Send again now",
        .resumeTitle: "Let {0} send again at once?",
        .resumeText:
            "Its circuit closes and gateways in trouble are tried at once, instead of at the next probe. If the "
            + "cause is still there, the circuit opens again; no message fails for it.",
        .resumeBelieve: "The refused push tokens are really bad",
        .resumeBelieveHint:
            "Messages to them fail and their subscriptions are disabled, in all deliveries under way, instead of "
            + "opening the circuit again. Tick it only if the application and its credential are right.",
        .resumeNow: "Send again",
        // Sending a test push.
        .testButton: "Send test push",
        .testTitle: "Test push of {0}",
        .testText:
            "One message goes to one device, the way that all messages go: it shows whether credential, account and app fit "
            + "together. Its page then says what the gateway answered. It is on record.",
        .fieldSeed: "Seed address",
        .fieldSeedHint: "A device’s push token becomes a seed address with pushmta seed add.",
        .seedNone: "none: the subscription below",
        .fieldSubscription: "Number of a subscription",
        .fieldSubscriptionHint: "Subscribers finds it by user key.",
        .fieldTestTitle: "Title",
        .testTitleWords: "Test push",
        .fieldTestBody: "Text",
        .testBodyWords: "If you can read this, it works.",
        .testSend: "Send",
        .testToNobody: "It is not said to whom. Choose a seed address, or type the number of a subscription.",
        .testDone: "The test push is on its way. Reload to see what the gateway answered.",
        .auditTest: "sent a test push",
        // Forms that declare something.
        .fieldName: "Name",
        .fieldNameHint: "Its name in commands and SQL. It cannot be changed later.",
        .fieldLabel: "Label",
        .chooseOne: "Choose one",
        .newServiceTitle: "Add a service",
        .newServiceText: "A service is what marketing calls the app; it has an application for each platform.",
        .newServiceButton: "Add service",
        .newPairTitle: "Add an iOS pair",
        .newPairText:
            "Two applications at once: production for the App Store and TestFlight, sandbox for builds from "
            + "Xcode. Each gets an integration key of its own.",
        .pairNameHint: "The name of the production application; that of the sandbox ends with {0}.",
        .newPairButton: "Add both",
        .newAndroidTitle: "Add an Android application",
        .newAndroidButton: "Add application",
        .noServicesForForm: "An application belongs to a service, and there is none yet: add a service first.",
        .bundleHint: "As in Xcode, such as com.example.shop.",
        .packageHint: "As in the app’s manifest, such as com.example.shop.",
        .formatHint:
            "int32 if any app in use has Adobe’s Campaign SDK, whose examples read the id as a number; uuid "
            + "otherwise. The wrong one loses receipts or crashes the app.",
        .formatMissing: "It is not said how message ids are written. Choose int32 or uuid.",
        .fieldProductionAccount: "Account of production",
        .fieldSandboxAccount: "Account of sandbox",
        .fieldProductionKey: "Integration key of production",
        .fieldSandboxKey: "Integration key of sandbox",
        .noAccountYet: "none yet",
        .keyHint: "What the app’s SDK registers with. Keep the one that the app has; leave it empty for a new one.",
        .copyTitle: "Copy {0}",
        .copyText:
            "The copy gets the variables, sounds, subscription parameters and icon. It gets no credential and no "
            + "subscription.",
        .copyButton: "Copy",
        .integrationKeyTitle: "Integration key",
        // Uploading a credential.
        .credentialFormTitle: "Credential of {0}",
        .credentialFormText:
            "It is checked, sealed at once, and never shown again. What the application had before is replaced.",
        .credentialFormButton: "Upload credential",
        .chooseFile: "Choose the file",
        .materialIOS: "Apple’s key (.p8) or certificate (.p12)",
        .materialIOSHint:
            "The text of the .p8 file. A .p12 file is no text: without the button above paste its Base64, as "
            + "base64 FILE prints it.",
        .materialAndroid: "Google’s service account (JSON) or project key",
        .materialAndroidHint: "The text of the JSON file from the Firebase console, or the server key alone.",
        .keyIDHint: "For a .p8 file: ten characters that Apple shows beside the key.",
        .teamIDHint: "For a .p8 file: ten characters of your developer team.",
        .fieldPassphrase: "Passphrase of the .p12 file",
        .passphraseHint: "Leave it empty if the file has none.",
        .fieldBoth: "The certificate serves sandbox and production",
        .fieldBothHint: "Apple has to have issued it for both.",
        .materialMissing: "There is no credential: choose a file, or paste its text.",
        .keyIDsMissing:
            "An APNs key needs the key’s id and the team’s id. Apple shows both beside the key. Give the file "
            + "again, too.",
        .noSealingKey:
            "This console has no key to seal credentials with. {0} Or upload it on a host that has the key: "
            + "pushmta credential set.",
        // External accounts.
        .accountsTitle: "External accounts",
        .accountsText: "The routing of deliveries to a gateway: a connector and its address.",
        .noAccounts: "There is no external account yet. An administrator adds one here, or with pushmta account add.",
        .firstAccounts: "Back to the first",
        .moreAccounts: "More accounts",
        .accountActive: "in use",
        .accountPaused: "paused",
        .accountDone: "The account is declared.",
        .connectorIOSHTTP2: "APNs over HTTP/2",
        .connectorIOSBinary: "APNs’ old binary protocol, by a gateway that stands in for it",
        .connectorAndroidV1: "FCM, one connection a child",
        .connectorAndroidV2: "FCM, several connections a child",
        .newAccountTitle: "Add an external account",
        .newAccountText: "Leave host and port empty for Apple’s and Google’s own gateways.",
        .newAccountButton: "Add account",
        .accountEnvironmentHint: "Apple’s gateways have two; Google’s has one.",
        .fieldHost: "Host",
        .fieldHostHint: "Only for a proxy or a stand-in.",
        .fieldPort: "Port",
        .connectorMissing: "The connector is none that there is. Choose one of the list.",
        .portWrong: "The port is no number from 1 to 65535. Leave it empty for the gateway’s own.",
        .binaryClosed:
            "Apple closed its binary gateway on 31 March 2021. Name the host of a gateway that stands in for it, "
            + "or choose ios-http2.",
        // Changing what there is.
        .changeButton: "Change",
        .changeTitle: "Change {0}",
        .formWrong: "Nothing is saved: what is wrong stands at its field.",
        .formStale:
            "Somebody else has changed it since this page was loaded, so nothing is saved. Note what you have typed, then",
        .formLoadAgain: "load it as it is now.",
        .changeGeneral: "General",
        .changeBuiltIn: "What the app has built in",
        .changeBuiltInNote: "Change these only together with the app itself.",
        .labelHint: "Its name for people.",
        .accountChangeHint: "Deliveries that exist already keep the account that they were made with.",
        .fieldRate: "Messages a second",
        .rateHint: "At most, on all hosts together. Empty: no limit of its own.",
        .rateWrong: "This is no rate. Give a number from 0.001 to 1000000, or leave it empty.",
        .bundleChangeHint: "Counts at once, also for what deliveries under way have not sent yet.",
        .keyChangeHint: "Apps that have another one cannot register any more.",
        .formatChangeHint:
            "Cannot be changed while a delivery is under way. The wrong one loses receipts or crashes the app.",
        .formatUnderWay:
            "A delivery of this application is under way, and its message ids are in the present format. Change it when "
            + "all of them are finished.",
        .keyTaken: "Another application has this integration key already.",
        .accountMissing: "There is no such account for this platform. Choose one of the list.",
        .accountUnfit:
            "This account speaks {0}, which does not take the application’s credential ({1}). Choose another account, or "
            + "upload another credential first.",
        .iconRemove: "Take the icon away",
        .iconChoose: "Choose another icon",
        .iconPaste: "Or paste it as Base64",
        .iconHint: "A PNG file of 48×48 pixels, for previews.",
        .iconNoBase64: "what was pasted is no Base64",
        .iconNoBase64Remedy: "choose the PNG file, or paste what base64 FILE prints",
        .variablesTitle: "Variables",
        .variablesHint:
            "What the app’s code understands in a message beside the usual fields. With none declared, deliveries may use "
            + "any; with some, a delivery with another one is refused.",
        .variableAdd: "Add a variable",
        .soundsTitle: "Sounds",
        .soundsHint:
            "What the app can play: a file in it, such as chime.caf, or a sound of the system. The same rule as for "
            + "variables.",
        .soundAdd: "Add a sound",
        .soundOfApplication: "the app",
        .columnOrigin: "Comes with",
        .parametersTitle: "Subscription parameters",
        .parametersHint:
            "What the app gives with a registration, and where it is kept: user_key, locale, time_zone, recipient.NAME or "
            + "parameters.NAME. Others are kept as parameters under their own names.",
        .parameterAdd: "Add a parameter",
        .applicationChanged: "The application is changed. Children take it up within seconds.",
        .serviceChanged: "The service is changed.",
        .serviceLabelHint: "Its name for people. The name in commands stays.",
        .accountChanged: "The account is changed. Its children are replaced one by one, within seconds.",
        .changeAccountText:
            "What deliveries under way have not sent yet goes as it is set here, as soon as children are replaced: within "
            + "seconds.",
        .hostChangeHint: "The gateway’s own: {0}. Another one is a proxy or a stand-in.",
        .hostOfOthers:
            "{0} is of the other environment than these applications, whose every push token is a bad one there: {1}.",
        .hostWrong: "This is no host. Give a name or an IP address, without https:// and without a port.",
        .fieldConnections: "Connections of a child",
        .connectionsHint: "From 1 to 100. Empty: as the settings say.",
        .connectionsWrong: "This is no number from 1 to 100.",
        .fieldFeedbackHost: "Host of the feedback service",
        .fieldFeedbackPort: "Port of the feedback service",
        .feedbackHint: "Empty: the one that belongs to the gateway.",
        .stateHint: "While it is paused nothing is sent through it, and messages wait.",
        .bySetting: "as the settings say",
        .noLimit: "no limit of its own",
        .factAuthorities: "Certificate authorities",
        .authoritiesNote:
            "This file lies on each host that sends, so it is named there: pushmta account set {0} --ca-file FILE",
        .accountPausedText: "It is paused: nothing is sent through it, and messages wait.",
        .accountApplications: "Applications that go through it",
        .accountUnused: "None has chosen it.",
        .auditServiceChange: "changed a service",
        .auditAccountChange: "changed an external account",
        .auditApplicationChange: "changed an application",
        // What the audit log tells of them.
        .auditServiceAdd: "declared a service",
        .auditAccountAdd: "declared an external account",
        .auditApplicationAdd: "declared an application",
        .auditApplicationCopy: "copied an application",
        .auditApplicationResume: "let an application send again",
        .auditCredentialSet: "uploaded a credential",
    ]
}
