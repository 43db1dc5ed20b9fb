extension German {
    /// The German texts about seed addresses, exclusion lists, services, applications, external accounts and credentials.
    static let applicationTexts: [Phrase: String] = [
        // Seed addresses.
        .seedsTitle: "Testadressen",
        .seedsNote:
            "Wer die Testversände bekommt und die Versände, für die es so festgelegt ist. Ein Push-Token ohne "
            + "Abonnenten bekommt sonst nichts, bis sich das Gerät registriert.",
        .noSeedsYet: "Es gibt noch keine Testadresse.",
        .newSeedTitle: "Testadresse hinzufügen",
        .newSeedText: "Sie nennt ein Abonnement einer Anwendung. Was Sie eingeben, wird nicht noch einmal gezeigt.",
        .newSeedButton: "Hinzufügen",
        .seedNameHint: "Keine Zahl und ohne Komma, etwa ada-telefon.",
        .seedLabel: "Wem sie gehört",
        .seedLabelHint: "Für Menschen.",
        .seedBy: "Benannt durch",
        .seedPushToken: "Push-Token",
        .seedWanted: "Push-Token, Schlüssel oder Nummer",
        .seedWantedHint: "Von einem Nutzer das zuletzt registrierte Abonnement.",
        .seedLocaleHint: "Eines Push-Tokens ohne Abonnenten, etwa fr-CA.",
        .seedVariables: "Werte für Felder",
        .seedVariablesHint: "Ein JSON-Objekt, etwa {\"firstName\": \"Ada\"}. Leer: die des Abonnements.",
        .seedVariablesWrong:
            "Die Werte für Felder sind kein JSON-Objekt. Schreiben Sie eines, etwa {\"firstName\": \"Ada\"}.",
        .seedLocaleWrong: "Das ist keine Sprache. Schreiben Sie eine, mit Region oder ohne, etwa fr oder fr-CA.",
        .seedGoneRemedy: "Wählen Sie andere: Die Seite der Testadressen zeigt sie und fügt welche hinzu.",
        .seedWell: "bekommt Tests",
        .seedOnly: "kein Abonnent",
        .columnSeed: "Testadresse",
        .seedRemoveTitle: "Diese Testadresse entfernen?",
        .seedRemoveText: "Sie bekommt keine Testversände mehr. Ein Abonnement bleibt, was es ist.",
        .seedRemoveButton: "Entfernen",
        .doneSeedAdd: "Die Testadresse ist hinzugefügt.",
        .doneSeedRemove: "Die Testadresse ist entfernt.",
        .manageSeeds: "Testadressen hinzufügen und entfernen",
        .auditSeedAdd: "hat eine Testadresse hinzugefügt",
        .auditSeedRemove: "hat eine Testadresse entfernt",
        // Exclusion lists.
        .listsNote:
            "Wer auf einer Liste steht, bekommt nichts von den Sendungen, die sie verwenden. Ein Versand "
            + "wählt seine Listen im Schritt „Zielgruppe“.",
        .listGone: "gibt es nicht mehr",
        .listGoneRemedy:
            "Wählen Sie sie in der Zielgruppe ab, oder legen Sie sie auf der Seite der Ausschlusslisten wieder an.",
        .noLists: "Es gibt noch keine Ausschlussliste.",
        .newListTitle: "Ausschlussliste anlegen",
        .newListText: "Sie ist zuerst leer; Personen kommen auf ihrer Seite hinzu.",
        .newListButton: "Anlegen",
        .listNameHint: "Wie Befehle und SQL sie nennen, etwa kein-newsletter.",
        .listLabel: "Wofür sie ist",
        .columnList: "Ausschlussliste",
        .listStays:
            "Ein Versand hat sie verwendet, daher bleibt sie: Sonst wüsste niemand mehr, wen sie ausschloss. "
            + "Nehmen Sie stattdessen Personen herunter.",
        .listDeleteTitle: "Diese Ausschlussliste löschen?",
        .listDeleteText:
            "Künftige Sendungen gehen auch an die, die darauf stehen. Entwürfe und Vorlagen, die sie nennen, "
            + "haben von nun an einen Fehler. Das lässt sich nicht rückgängig machen.",
        .listDeleteButton: "Liste löschen",
        .doneListAdd: "Die Ausschlussliste ist angelegt. Fügen Sie Personen hinzu.",
        .doneListDelete: "Die Ausschlussliste ist gelöscht.",
        .doneListPut: "{0} von {1} sind neu auf der Liste; die anderen standen schon darauf.",
        .doneListTake: "{0} von {1} wurden von der Liste genommen; die anderen standen nicht darauf.",
        .doneListFind: "{0} von {1} stehen auf der Liste.",
        .listPut: "Auf die Liste setzen",
        .listTake: "Von der Liste nehmen",
        .listFind: "Wie viele stehen darauf?",
        .peopleUserKeys: "Schlüssel von Nutzern",
        .peopleSubscriptions: "Nummern von Abonnements",
        .peoplePushTokens: "Push-Token",
        .peopleTitle: "Personen",
        .peopleNote:
            "Ein Schlüssel steht für alle Abonnements des Nutzers. Keine Seite zeigt, wer auf einer Liste "
            + "steht; protokolliert wird, wie viele genannt wurden, und nicht wer.",
        .peopleBy: "Benannt durch",
        .peopleWanted: "Pro Zeile einer",
        .peopleHint: "5.000 auf einmal; mehr kommen aus einer Datei mit pushmta exclusion import.",
        .peopleWrong:
            "Zeile {0} kann keiner davon sein. Nichts wurde geändert: Berichtigen Sie die Zeile, oder wählen "
            + "Sie, was die Zeilen sind.",
        .peopleNotShown: "Push-Tokens werden nicht noch einmal gezeigt: Fügen Sie sie erneut ein.",
        .peopleNone: "Niemand ist genannt. Geben Sie mindestens eine Zeile ein.",
        .peopleTooMany:
            "Das sind mehr als {0}. Nichts wurde geändert: Für eine Datei gibt es pushmta exclusion import.",
        .manageLists: "Ausschlusslisten anlegen, füllen und löschen",
        .relatedPages: "Siehe auch",
        .firstRows: "Zurück zum Anfang",
        .moreRows: "Weitere",
        .auditListAdd: "hat eine Ausschlussliste angelegt",
        .auditListRemove: "hat eine Ausschlussliste gelöscht",
        .auditListPut: "hat Personen auf eine Ausschlussliste gesetzt",
        .auditImport: "hat Abonnements importiert",
        .auditImportUndo: "hat einen Import zurückgenommen",
        .auditTokenConfirm: "hat angezweifelte Token für tot erklärt",
        .auditTokenUndo: "hat Antworten des Gateways zu Token zurückgenommen",
        .auditListTake: "hat Personen von einer Ausschlussliste genommen",
        .auditListFind: "hat gefragt, wer auf einer Ausschlussliste steht",
        // What stands in the menu and in lists of services.
        .menuServices: "Dienste",
        .servicesTitle: "Dienste und Anwendungen",
        .columnBundle: "Bundle-ID oder Paket",
        .applicationsOf: "Anwendungen von",
        .noApplicationsYet: "Er hat noch keine Anwendung.",
        .noServices:
            "Es gibt noch keinen Dienst. Die Administration legt hier einen an, oder mit pushmta service add.",
        .firstServices: "Zurück zu den ersten",
        .moreServices: "Weitere Dienste",
        .serviceDone: "Der Dienst ist angelegt. Als Nächstes: seine Anwendungen.",
        .pairDone: "Beide Anwendungen sind angelegt. Als Nächstes: jeder ihre Zugangsdaten geben.",
        .addPairButton: "iOS-Paar anlegen",
        .addAndroidButton: "Android anlegen",
        // How an application stands.
        .standingReady: "bereit",
        .standingCircuit: "Sicherung offen",
        .standingTrouble: "Gateway nimmt nichts an",
        .standingNoAccount: "kein Konto",
        .standingNoCredential: "keine Zugangsdaten",
        .standingExpired: "Zugangsdaten abgelaufen",
        .standingExpires: "Zugangsdaten enden bald",
        .platformIOS: "iOS",
        .platformAndroid: "Android",
        .environmentSandbox: "Sandbox",
        .environmentProduction: "Produktion",
        // One application.
        .factEnvironment: "Umgebung",
        .factBundleID: "Bundle-ID",
        .factPackage: "Paketname",
        .factMessageIDs: "Nachrichten-IDs",
        .factConnector: "Konnektor",
        .factGateway: "Gateway",
        .factLabel: "Bezeichnung",
        .messageIDsUUID: "uuid: Apps senden den Text zurück, wie er ist",
        .messageIDsInt32: "int32: Apps lesen sie mit Integer.valueOf",
        .noAccount: "keines",
        .iconWords: "Symbol",
        .circuitIsOpen: "Ihre Sicherung ist offen: Keine Nachricht wird gesendet, und keine scheitert. {0}",
        .gatewayTakesNothing:
            "Das Gateway des Kontos {0} nimmt seit {1} nichts an ({2}). {3} Nachrichten warten und behalten ihre "
            + "Versuche; {4} Proben wurden gesendet.",
        .gatewayRemedy:
            "Warten Sie: Es geht von selbst weiter, sobald eine Probe angenommen wird. „Wieder senden“ versucht es sofort.",
        .routeIsWrong: "Jede Nachricht würde abgelehnt: {0}.",
        .credentialUnfit: "Ihr Konto spricht {0}, und das nimmt nicht an: {1}.",
        .credentialUnfitRemedy: "Laden Sie andere Zugangsdaten hoch, oder wählen Sie mit „Ändern“ ein anderes Konto.",
        .accountInactive: "Das Konto {0} ist angehalten: Nichts wird darüber gesendet.",
        .noAccountText: "Sie hat kein externes Konto: Ein Versand muss eines nennen.",
        .noAccountRemedy: "Die Administration wählt eines mit „Ändern“.",
        .applicationDone: "Die Anwendung ist angelegt. Als Nächstes: ihre Zugangsdaten hochladen.",
        .resumeDone:
            "Nichts hält sie mehr zurück: Ihre Nachrichten werden wieder gesendet. Besteht die Ursache noch, öffnet sich die "
            + "Sicherung wieder.",
        .credentialDone: "Die Zugangsdaten sind versiegelt und gespeichert. Kindprozesse übernehmen sie in Sekunden.",
        .credentialTitle: "Zugangsdaten",
        .credentialNote: "Die Zugangsdaten selbst sind versiegelt; niemand kann sie hier lesen.",
        .noCredentialText:
            "Sie hat keine Zugangsdaten, darum nimmt ihr Gateway nichts an. Die Administration lädt sie hoch.",
        .credentialKind: "Art",
        .credentialStored: "Gespeichert",
        .credentialFingerprint: "Fingerabdruck (SHA-256)",
        .credentialOthers: "Geteilt mit",
        .credentialAPNsKey: "APNs-Schlüssel (.p8)",
        .credentialCertificate: "APNs-Zertifikat (.p12)",
        .credentialServiceAccount: "Dienstkonto (JSON)",
        .credentialProjectKey: "Projektschlüssel",
        .credentialKeyID: "Schlüssel-ID",
        .credentialTeamID: "Team-ID",
        .credentialProject: "Projekt",
        .credentialTopics: "Topics",
        .credentialEnvironments: "Umgebungen",
        .credentialSubject: "Ausgestellt für",
        .expiryNever: "läuft nicht ab",
        .expiryOver: "abgelaufen am {0}, vor {1}",
        .expiryIn: "läuft ab am {0}, in {1}",
        .snippetNote:
            "Das fügt ein, wer die App entwickelt. Der Host ist der, unter dem Geräte pushmta web erreichen; setzen Sie Ihren ein "
            + "statt",
        .declaredTitle: "Was sie deklariert",
        .declaresNothing: "Nichts: Ein Versand darf jede Variable und jeden Ton verwenden.",
        .columnVariable: "Variable",
        .columnType: "Typ",
        .columnDefault: "Vorgabe",
        .columnSound: "Ton",
        .columnParameter: "Parameter des Abonnements",
        .columnKept: "Gespeichert in",
        .soundOfSystem: "das System",
        // Letting an application send again.
        .resumeButtonOfApp: "Wieder senden",
        .resumeTitle: "{0} sofort wieder senden lassen?",
        .resumeText:
            "Ihre Sicherung schließt sich, und gestörte Gateways werden sofort versucht statt bei der nächsten Probe. Besteht die "
            + "Ursache noch, öffnet sich die Sicherung wieder; keine Nachricht scheitert deshalb.",
        .resumeBelieve: "Die abgelehnten Push-Tokens sind wirklich ungültig",
        .resumeBelieveHint:
            "Nachrichten an sie scheitern, und ihre Abonnements werden abgeschaltet, in allen laufenden Sendungen, statt dass sich die "
            + "Sicherung wieder öffnet. Nur ankreuzen, wenn Anwendung und Zugangsdaten richtig sind.",
        .resumeNow: "Wieder senden",
        // Sending a test push.
        .testButton: "Test senden",
        .testTitle: "Test für {0}",
        .testText:
            "Eine Nachricht geht an ein Gerät, auf dem Weg aller Nachrichten: Sie zeigt, ob Zugangsdaten, Konto und App "
            + "zusammenpassen. Danach sagt ihre Seite, was das Gateway geantwortet hat. Es steht im Protokoll.",
        .fieldSeed: "Testadresse",
        .fieldSeedHint: "Aus dem Push-Token eines Geräts macht pushmta seed add eine Testadresse.",
        .seedNone: "keine: das Abonnement darunter",
        .fieldSubscription: "Nummer eines Abonnements",
        .fieldSubscriptionHint: "Unter Abonnenten findet man sie mit dem Benutzerschlüssel.",
        .fieldTestTitle: "Titel",
        .testTitleWords: "Test",
        .fieldTestBody: "Text",
        .testBodyWords: "Wenn Sie das lesen, funktioniert es.",
        .testSend: "Senden",
        .testToNobody:
            "Es ist nicht gesagt, an wen. Wählen Sie eine Testadresse, oder geben Sie die Nummer eines Abonnements ein.",
        .testDone: "Der Test ist unterwegs. Was das Gateway antwortet, erscheint hier von selbst.",
        .auditTest: "hat einen Test einer Anwendung gesendet",
        // Forms that declare something.
        .fieldName: "Name",
        .fieldNameHint: "Der Name in Befehlen und SQL. Er bleibt, wie er ist.",
        .fieldLabel: "Bezeichnung",
        .chooseOne: "Bitte wählen",
        .newServiceTitle: "Dienst anlegen",
        .newServiceText: "Ein Dienst ist, was das Marketing die App nennt; er hat eine Anwendung je Plattform.",
        .newServiceButton: "Dienst anlegen",
        .newPairTitle: "iOS-Paar anlegen",
        .newPairText:
            "Zwei Anwendungen auf einmal: Produktion für App Store und TestFlight, Sandbox für Builds aus Xcode. Jede bekommt ihren "
            + "eigenen Integrationsschlüssel.",
        .pairNameHint: "Der Name der Anwendung für Produktion; der für Sandbox endet auf {0}.",
        .newPairButton: "Beide anlegen",
        .newAndroidTitle: "Android-Anwendung anlegen",
        .newAndroidButton: "Anwendung anlegen",
        .noServicesForForm:
            "Eine Anwendung gehört zu einem Dienst, und es gibt noch keinen: Legen Sie zuerst einen an.",
        .bundleHint: "Wie in Xcode, etwa com.example.shop.",
        .packageHint: "Wie im Manifest der App, etwa com.example.shop.",
        .formatHint:
            "int32, wenn eine App mit Adobes Campaign-SDK in Gebrauch ist, dessen Beispiele die ID als Zahl lesen; sonst uuid. Das "
            + "falsche verliert Empfangsmeldungen oder lässt die App abstürzen.",
        .formatMissing: "Es ist nicht gesagt, wie Nachrichten-IDs geschrieben werden. Wählen Sie int32 oder uuid.",
        .fieldProductionAccount: "Konto für Produktion",
        .fieldSandboxAccount: "Konto für Sandbox",
        .fieldProductionKey: "Integrationsschlüssel für Produktion",
        .fieldSandboxKey: "Integrationsschlüssel für Sandbox",
        .noAccountYet: "noch keines",
        .keyHint:
            "Damit meldet sich das SDK der App an. Behalten Sie den, den die App hat; leer bekommt sie einen neuen.",
        .copyTitle: "{0} kopieren",
        .copyText:
            "Die Kopie bekommt Variablen, Töne, Abonnementparameter und Symbol. Sie bekommt keine Zugangsdaten und keine Abonnements.",
        .copyButton: "Kopieren",
        .integrationKeyTitle: "Integrationsschlüssel",
        // Uploading a credential.
        .credentialFormTitle: "Zugangsdaten von {0}",
        .credentialFormText:
            "Sie werden geprüft, sofort versiegelt und nie wieder gezeigt. Was die Anwendung vorher hatte, wird ersetzt.",
        .credentialFormButton: "Zugangsdaten hochladen",
        .chooseFile: "Datei wählen",
        .materialIOS: "Apples Schlüssel (.p8) oder Zertifikat (.p12)",
        .materialIOSHint:
            "Der Text der .p8-Datei. Eine .p12-Datei ist kein Text: Ohne den Knopf darüber fügen Sie ihr Base64 ein, wie base64 DATEI "
            + "es ausgibt.",
        .materialAndroid: "Googles Dienstkonto (JSON) oder Projektschlüssel",
        .materialAndroidHint: "Der Text der JSON-Datei aus der Firebase-Konsole, oder der Server-Schlüssel allein.",
        .keyIDHint: "Zu einer .p8-Datei: zehn Zeichen, die Apple neben dem Schlüssel zeigt.",
        .teamIDHint: "Zu einer .p8-Datei: zehn Zeichen Ihres Entwicklerteams.",
        .fieldPassphrase: "Passwort der .p12-Datei",
        .passphraseHint: "Leer lassen, wenn die Datei keines hat.",
        .fieldBoth: "Das Zertifikat gilt für Sandbox und Produktion",
        .fieldBothHint: "Apple muss es für beide ausgestellt haben.",
        .materialMissing: "Es fehlen die Zugangsdaten: Wählen Sie eine Datei, oder fügen Sie ihren Text ein.",
        .keyIDsMissing:
            "Ein APNs-Schlüssel braucht seine ID und die des Teams. Apple zeigt beide neben dem Schlüssel. Geben Sie auch die Datei "
            + "noch einmal an.",
        .noSealingKey:
            "Diese Konsole hat keinen Schlüssel, um Zugangsdaten zu versiegeln. {0} Oder laden Sie sie auf einem Host hoch, der ihn "
            + "hat: pushmta credential set.",
        // External accounts.
        .accountsTitle: "Externe Konten",
        .accountsText: "Der Weg von Sendungen zu einem Gateway: ein Konnektor und seine Adresse.",
        .noAccounts:
            "Es gibt noch kein externes Konto. Die Administration legt hier eines an, oder mit pushmta account add.",
        .firstAccounts: "Zurück zu den ersten",
        .moreAccounts: "Weitere Konten",
        .accountActive: "in Gebrauch",
        .accountPaused: "angehalten",
        .accountDone: "Das Konto ist angelegt.",
        .connectorIOSHTTP2: "APNs über HTTP/2",
        .connectorIOSBinary: "das alte Binärprotokoll von APNs, über ein Gateway, das dafür einsteht",
        .connectorAndroidV1: "FCM, eine Verbindung je Kindprozess",
        .connectorAndroidV2: "FCM, mehrere Verbindungen je Kindprozess",
        .newAccountTitle: "Externes Konto anlegen",
        .newAccountText: "Lassen Sie Host und Port leer für die Gateways von Apple und Google selbst.",
        .newAccountButton: "Konto anlegen",
        .accountEnvironmentHint: "Apples Gateways haben zwei, Googles eine.",
        .fieldHost: "Host",
        .fieldHostHint: "Nur für einen Proxy oder einen Ersatz.",
        .fieldPort: "Port",
        .connectorMissing: "Diesen Konnektor gibt es nicht. Wählen Sie einen aus der Liste.",
        .portWrong: "Der Port ist keine Zahl von 1 bis 65535. Leer ist es der des Gateways.",
        .portMissing: "Der Port ist keine Zahl von 1 bis 65535.",
        .binaryClosed:
            "Apple hat sein Binär-Gateway am 31. März 2021 geschlossen. Nennen Sie den Host eines Gateways, das dafür einsteht, oder "
            + "wählen Sie ios-http2.",
        // Changing what there is.
        .changeButton: "Ändern",
        .changeTitle: "{0} ändern",
        .formWrong: "Nichts ist gespeichert: Was falsch ist, steht bei seinem Feld.",
        .formStale:
            "Jemand anderes hat es geändert, seit diese Seite geladen wurde; darum ist nichts gespeichert. Merken Sie "
            + "sich, was Sie eingegeben haben, und",
        .formLoadAgain: "laden Sie es, wie es jetzt ist.",
        .changeGeneral: "Allgemein",
        .changeBuiltIn: "Was in der App steckt",
        .changeBuiltInNote: "Ändern Sie das nur zusammen mit der App selbst.",
        .labelHint: "Der Name für Menschen.",
        .accountChangeHint: "Bestehende Sendungen behalten das Konto, mit dem sie angelegt wurden.",
        .fieldRate: "Nachrichten je Sekunde",
        .rateHint: "Höchstens, auf allen Hosts zusammen. Leer: ohne eigene Grenze.",
        .rateWrong: "Das ist keine Rate. Geben Sie eine Zahl von {0} bis {1} an, oder lassen Sie das Feld leer.",
        .bundleChangeHint: "Gilt sofort, auch für das, was laufende Sendungen noch nicht gesendet haben.",
        .keyChangeHint: "Apps mit einem anderen können sich nicht mehr anmelden.",
        .formatChangeHint:
            "Nicht zu ändern, während eine Sendung läuft. Das falsche verliert Empfangsmeldungen oder lässt die App "
            + "abstürzen.",
        .formatUnderWay:
            "Eine Sendung dieser Anwendung läuft, und ihre Nachrichten-IDs sind im jetzigen Format. Ändern Sie es, wenn "
            + "alle fertig sind.",
        .keyTaken: "Eine andere Anwendung hat diesen Integrationsschlüssel schon.",
        .accountMissing: "Ein solches Konto gibt es für diese Plattform nicht. Wählen Sie eines aus der Liste.",
        .accountUnfit:
            "Dieses Konto spricht {0}, und das nimmt die Zugangsdaten der Anwendung nicht an ({1}). Wählen Sie ein "
            + "anderes, oder laden Sie zuerst andere Zugangsdaten hoch.",
        .iconRemove: "Symbol entfernen",
        .iconChoose: "Anderes Symbol wählen",
        .iconPaste: "Oder als Base64 einfügen",
        .iconHint: "Eine PNG-Datei von 48×48 Pixeln, für Vorschauen.",
        .iconNoBase64: "das Eingefügte ist kein Base64",
        .iconNoBase64Remedy: "wählen Sie die PNG-Datei, oder fügen Sie ein, was base64 DATEI ausgibt",
        .variablesTitle: "Variablen",
        .variablesHint:
            "Was der Code der App in einer Nachricht neben den üblichen Feldern versteht. Ist keine deklariert, darf ein "
            + "Versand jede verwenden; sonst wird einer mit einer anderen abgelehnt.",
        .variableAdd: "Variable hinzufügen",
        .soundsTitle: "Töne",
        .soundsHint:
            "Was die App abspielen kann: eine Datei in ihr, etwa chime.caf, oder ein Ton des Systems. Es gilt dieselbe "
            + "Regel wie für Variablen.",
        .soundAdd: "Ton hinzufügen",
        .soundOfApplication: "die App",
        .columnOrigin: "Gehört zu",
        .parametersTitle: "Parameter des Abonnements",
        .parametersHint:
            "Was die App bei der Anmeldung angibt, und wo es bleibt: user_key, locale, time_zone, recipient.NAME oder "
            + "parameters.NAME. Andere bleiben Parameter unter ihrem eigenen Namen.",
        .parameterAdd: "Parameter hinzufügen",
        .applicationChanged: "Die Anwendung ist geändert. Kindprozesse übernehmen es in Sekunden.",
        .serviceChanged: "Der Dienst ist geändert.",
        .fieldMapping: "Zielzuordnung",
        .mappingStandard: "Standard: nur die Abonnements",
        .mappingHint:
            "Worin Benutzerschlüssel Personen zugeordnet werden; was dort über eine Person steht, nutzen "
            + "Filter und Texte. pushmta mapping add registriert eines.",
        .fieldTrust: "Vertrauen in Benutzerschlüssel",
        .trustOpen: "open: Das Gerät sagt, wem es gehört",
        .trustSigned: "signed: Das Gerät weist es mit einem Token Ihres Backends nach",
        .trustServer: "server: Nur API und Importe sagen es",
        .trustHint:
            "Solange es open ist, kann sich mit dem Integrationsschlüssel der App jeder als jeder anmelden. "
            + "Schlüssel für Nachweise: pushmta service set --proof-key.",
        .trustMissing: "Wählen Sie einen Eintrag der Liste.",
        .trustNoKey:
            "Der Dienst hat keinen Schlüssel, um Nachweise zu prüfen. Geben Sie ihm zuerst einen: pushmta "
            + "service set {0} --proof-key DATEI --proof-key-id KID",
        .fieldAccessURL: "Zugriffs-URL von Adobe Campaign",
        .accessURLHint: "Anstelle des Konnektors oben, wenn Sie sie zur Hand haben; nur der Pfad zählt: {0}.",
        .accessURLWrong:
            "Das ist keine Zugriffs-URL eines Konnektors. Nehmen Sie eine von diesen, oder lassen Sie das Feld "
            + "leer und wählen Sie den Konnektor: {0}.",
        .connectorUnfit:
            "{0} nimmt die Zugangsdaten dieser Anwendungen nicht an: {1}. Geben Sie ihnen zuerst andere "
            + "Zugangsdaten oder ein anderes Konto.",
        .connectorOfOther: "Das Konto ist für die andere Plattform. Fügen Sie dafür ein weiteres Konto hinzu.",
        .hostOfConnector:
            "Auf diesem Host läuft ein Gateway für {0}. Geben Sie Host und Port des Gateways für den neuen "
            + "Konnektor an.",
        .authoritiesHint:
            "Der absolute Pfad einer PEM-Datei, derselbe auf jedem Host, der sendet. Leer: wie in den "
            + "Einstellungen.",
        .authoritiesWrong: "Das ist kein absoluter Pfad einer Datei, wie /etc/pushmta/proxy-ca.pem.",
        .authoritiesNote: "Diese Datei muss auf jedem Host liegen, der sendet.",
        .serviceLabelHint: "Der Name für Menschen. Der Name in Befehlen bleibt.",
        .accountChanged: "Das Konto ist geändert. Seine Kindprozesse werden nacheinander ersetzt, in Sekunden.",
        .changeAccountText:
            "Was laufende Sendungen noch nicht gesendet haben, geht so, wie es hier steht, sobald die Kindprozesse "
            + "ersetzt sind: in Sekunden.",
        .hostChangeHint: "Das Gateway selbst: {0}. Ein anderer ist ein Proxy oder ein Ersatz.",
        .hostOfOthers:
            "{0} gehört zur anderen Umgebung als diese Anwendungen, von denen dort jedes Push-Token ungültig ist: {1}.",
        .hostWrong: "Das ist kein Host. Geben Sie einen Namen oder eine IP-Adresse an, ohne https:// und ohne Port.",
        .fieldConnections: "Verbindungen eines Kindprozesses",
        .connectionsHint: "Von 1 bis 100. Leer: wie in den Einstellungen.",
        .connectionsWrong: "Das ist keine Zahl von 1 bis 100.",
        .fieldFeedbackHost: "Host des Feedback-Dienstes",
        .fieldFeedbackPort: "Port des Feedback-Dienstes",
        .feedbackHint: "Leer: der zum Gateway gehört.",
        .stateHint: "Solange es angehalten ist, wird nichts darüber gesendet, und Nachrichten warten.",
        .bySetting: "wie in den Einstellungen",
        .noLimit: "ohne eigene Grenze",
        .factAuthorities: "Zertifizierungsstellen",
        .accountPausedText: "Es ist angehalten: Nichts wird darüber gesendet, und Nachrichten warten.",
        .accountApplications: "Anwendungen, die darüber senden",
        .accountUnused: "Keine hat es gewählt.",
        .auditServiceChange: "hat einen Dienst geändert",
        .auditAccountChange: "hat ein externes Konto geändert",
        .auditApplicationChange: "hat eine Anwendung geändert",
        // What the audit log tells of them.
        .auditServiceAdd: "hat einen Dienst angelegt",
        .auditAccountAdd: "hat ein externes Konto angelegt",
        .auditApplicationAdd: "hat eine Anwendung angelegt",
        .auditApplicationCopy: "hat eine Anwendung kopiert",
        .auditApplicationResume: "hat eine Anwendung wieder senden lassen",
        .auditCredentialSet: "hat Zugangsdaten hochgeladen",
    ]
}
