extension English {
    /// The English texts about seed addresses, exclusion lists, services, applications, external accounts and credentials.
    static let applicationTexts: [Phrase: String] = [
        // Seed addresses.
        .seedsTitle: "Seed addresses",
        .seedsNote:
            "Who gets the proofs of deliveries, and the deliveries that say so. A push token that is no "
            + "subscriber’s gets nothing else, until its device registers.",
        .noSeedsYet: "There is no seed address yet.",
        .newSeedTitle: "Add a seed address",
        .newSeedText: "It names one subscription of an application. What you type is not shown again.",
        .newSeedButton: "Add",
        .seedNameHint: "No number, and without a comma, such as ada-phone.",
        .seedLabel: "Whose it is",
        .seedLabelHint: "For people.",
        .seedBy: "Named by",
        .seedPushToken: "Push token",
        .seedWanted: "Push token, key or number",
        .seedWantedHint: "Of a user the subscription that registered last.",
        .seedLocaleHint: "Of a push token that is no subscriber’s, such as fr-CA.",
        .seedVariables: "Values for fields",
        .seedVariablesHint: "A JSON object, such as {\"firstName\": \"Ada\"}. Empty: those of the subscription.",
        .seedVariablesWrong: "The values for fields are no JSON object. Write one, such as {\"firstName\": \"Ada\"}.",
        .seedLocaleWrong: "This is no language. Write one, with a region or without, such as fr or fr-CA.",
        .seedGoneRemedy: "Choose others: the page of seed addresses shows them and adds more.",
        .seedWell: "gets proofs",
        .seedOnly: "no subscriber",
        .columnSeed: "Seed address",
        .seedRemoveTitle: "Remove this seed address?",
        .seedRemoveText: "It gets no more proofs. A subscriber stays a subscriber.",
        .seedRemoveButton: "Remove",
        .doneSeedAdd: "The seed address is added.",
        .doneSeedRemove: "The seed address is removed.",
        .manageSeeds: "Add and remove seed addresses",
        .auditSeedAdd: "added a seed address",
        .auditSeedRemove: "removed a seed address",
        // Exclusion lists.
        .listsNote:
            "Whoever is on a list gets nothing of the deliveries that use it. A delivery chooses its lists "
            + "in the step Target.",
        .listGone: "no longer there",
        .listGoneRemedy: "Untick it in the target, or create it again on the page of exclusion lists.",
        .noLists: "There is no exclusion list yet.",
        .newListTitle: "Create an exclusion list",
        .newListText: "It is empty at first; people are added on its page.",
        .newListButton: "Create",
        .listNameHint: "As commands and SQL name it, such as no-newsletter.",
        .listLabel: "What it is for",
        .columnList: "Exclusion list",
        .listStays:
            "A delivery has used it, so it stays: what it excluded would not be known any more. Take people "
            + "off it instead.",
        .listDeleteTitle: "Delete this exclusion list?",
        .listDeleteText:
            "Deliveries to come go to those who are on it. Drafts and templates that name it have an error "
            + "from then on. This cannot be undone.",
        .listDeleteButton: "Delete the list",
        .doneListAdd: "The exclusion list is created. Add people to it.",
        .doneListDelete: "The exclusion list is deleted.",
        .doneListPut: "{0} of {1} are new on the list; the others were on it already.",
        .doneListTake: "{0} of {1} were taken off the list; the others were not on it.",
        .doneListFind: "{0} of {1} are on the list.",
        .listPut: "Add to the list",
        .listTake: "Take off the list",
        .listFind: "How many are on it?",
        .peopleUserKeys: "User keys",
        .peopleSubscriptions: "Subscription numbers",
        .peoplePushTokens: "Push tokens",
        .peopleTitle: "People",
        .peopleNote:
            "A user key stands for all subscriptions of the user. No page lists who is on a list; on record "
            + "is how many were named, and not who.",
        .peopleBy: "Named by",
        .peopleWanted: "One a line",
        .peopleHint: "5,000 at once; more come from a file with pushmta exclusion import.",
        .peopleWrong:
            "Line {0} cannot be one of these. Nothing was changed: correct the line, or choose what the lines are.",
        .peopleNotShown: "Push tokens are not shown again: paste them once more.",
        .peopleNone: "Nobody is named. Type at least one line.",
        .peopleTooMany: "These are more than {0}. Nothing was changed: use pushmta exclusion import for a file.",
        .manageLists: "Create, fill and delete exclusion lists",
        .relatedPages: "See also",
        .firstRows: "Back to the first",
        .moreRows: "More",
        .auditListAdd: "created an exclusion list",
        .auditListRemove: "deleted an exclusion list",
        .auditListPut: "put people on an exclusion list",
        .auditImport: "imported subscriptions",
        .auditImportUndo: "undid an import",
        .auditTokenConfirm: "decided that tokens in doubt are dead",
        .auditTokenUndo: "took back what a gateway said of tokens",
        .auditListTake: "took people off an exclusion list",
        .auditListFind: "asked who is on an exclusion list",
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
        .testDone: "The test push is on its way. What the gateway answers appears here by itself.",
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
        .portMissing: "The port is no number from 1 to 65535.",
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
        .rateWrong: "This is no rate. Give a number from {0} to {1}, or leave it empty.",
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
        .fieldMapping: "Target mapping",
        .mappingStandard: "standard: subscriptions alone",
        .mappingHint:
            "Where user keys reconcile with people; what it has of a person is there for filters and texts. "
            + "pushmta mapping add registers one.",
        .fieldTrust: "Trust in user keys",
        .trustOpen: "open: the device says whose it is",
        .trustSigned: "signed: the device proves it with a token of your backend",
        .trustServer: "server: only the API and imports say it",
        .trustHint:
            "While it is open, whoever has the app’s integration key can register as anybody. Keys for proofs: "
            + "pushmta service set --proof-key.",
        .trustMissing: "Choose one of the list.",
        .trustNoKey:
            "The service has no key to check proofs with. Give it one first: pushmta service set {0} "
            + "--proof-key FILE --proof-key-id KID",
        .fieldAccessURL: "Access URL of Adobe Campaign",
        .accessURLHint: "In the place of the connector above, if you have it at hand; only its path counts: {0}.",
        .accessURLWrong:
            "This is no access URL of a connector. Use one of these, or leave it empty and choose the "
            + "connector: {0}.",
        .connectorUnfit:
            "{0} does not take the credentials of these applications: {1}. Give them another credential or "
            + "another account first.",
        .connectorOfOther: "The account is for the other platform. Add another account for it.",
        .hostOfConnector:
            "At this host a gateway for {0} listens. Give host and port of the new connector’s gateway.",
        .authoritiesHint:
            "The absolute path of a PEM file, the same on each host that sends. Empty: as the settings say.",
        .authoritiesWrong: "This is no absolute path of a file, such as /etc/pushmta/proxy-ca.pem.",
        .authoritiesNote: "This file has to lie on each host that sends.",
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
