extension French {
    /// The French texts about seed addresses, exclusion lists, services, applications, external accounts and credentials.
    static let applicationTexts: [Phrase: String] = [
        // Seed addresses.
        .seedsTitle: "Adresses de contrôle",
        .seedsNote:
            "Qui reçoit les BAT, et les diffusions qui le prévoient. Un jeton push sans abonné ne reçoit rien "
            + "d’autre, jusqu’à l’enregistrement de l’appareil.",
        .noSeedsYet: "Il n’y a pas encore d’adresse de contrôle.",
        .newSeedTitle: "Ajouter une adresse de contrôle",
        .newSeedText: "Elle désigne un abonnement d’une application. Ce que vous saisissez n’est plus affiché ensuite.",
        .newSeedButton: "Ajouter",
        .seedNameHint: "Pas un nombre, et sans virgule, par exemple ada-mobile.",
        .seedLabel: "À qui elle est",
        .seedLabelHint: "Pour les personnes.",
        .seedBy: "Désignée par",
        .seedPushToken: "Jeton push",
        .seedWanted: "Jeton push, clé ou numéro",
        .seedWantedHint: "D’un utilisateur, l’abonnement enregistré en dernier.",
        .seedLocaleHint: "D’un jeton push sans abonné, par exemple fr-CA.",
        .seedVariables: "Valeurs des champs",
        .seedVariablesHint: "Un objet JSON, par exemple {\"firstName\": \"Ada\"}. Vide : celles de l’abonnement.",
        .seedVariablesWrong:
            "Les valeurs des champs ne sont pas un objet JSON. Écrivez-en un, par exemple {\"firstName\": \"Ada\"}.",
        .seedLocaleWrong:
            "Ce n’est pas une langue. Écrivez-en une, avec ou sans région, par exemple fr ou fr-CA.",
        .seedGoneRemedy: "Choisissez-en d’autres : la page des adresses de contrôle les montre et en ajoute.",
        .seedWell: "reçoit les BAT",
        .seedOnly: "sans abonné",
        .columnSeed: "Adresse de contrôle",
        .seedRemoveTitle: "Supprimer cette adresse de contrôle ?",
        .seedRemoveText: "Elle ne reçoit plus de BAT. Un abonné reste abonné.",
        .seedRemoveButton: "Supprimer",
        .doneSeedAdd: "L’adresse de contrôle est ajoutée.",
        .doneSeedRemove: "L’adresse de contrôle est supprimée.",
        .manageSeeds: "Ajouter et supprimer des adresses de contrôle",
        .auditSeedAdd: "a ajouté une adresse de contrôle",
        .auditSeedRemove: "a supprimé une adresse de contrôle",
        // Exclusion lists.
        .listsNote:
            "Qui figure sur une liste ne reçoit rien des diffusions qui l’utilisent. Une diffusion choisit "
            + "ses listes à l’étape « Cible ».",
        .listGone: "n’existe plus",
        .listGoneRemedy: "Décochez-la dans la cible, ou recréez-la sur la page des listes d’exclusion.",
        .noLists: "Il n’y a pas encore de liste d’exclusion.",
        .newListTitle: "Créer une liste d’exclusion",
        .newListText: "Elle est d’abord vide ; les personnes s’ajoutent sur sa page.",
        .newListButton: "Créer",
        .listNameHint: "Comme les commandes et SQL la nomment, par exemple sans-newsletter.",
        .listLabel: "À quoi elle sert",
        .columnList: "Liste d’exclusion",
        .listStays:
            "Une diffusion l’a utilisée, elle reste donc : on ne saurait plus qui elle excluait. Retirez "
            + "plutôt des personnes.",
        .listDeleteTitle: "Supprimer cette liste d’exclusion ?",
        .listDeleteText:
            "Les diffusions à venir vont aussi à ceux qui y figurent. Les brouillons et modèles qui la "
            + "nomment ont désormais une erreur. C’est irréversible.",
        .listDeleteButton: "Supprimer la liste",
        .doneListAdd: "La liste d’exclusion est créée. Ajoutez-y des personnes.",
        .doneListDelete: "La liste d’exclusion est supprimée.",
        .doneListPut: "{0} sur {1} sont nouveaux sur la liste ; les autres y figuraient déjà.",
        .doneListTake: "{0} sur {1} ont été retirés de la liste ; les autres n’y figuraient pas.",
        .doneListFind: "{0} sur {1} figurent sur la liste.",
        .listPut: "Ajouter à la liste",
        .listTake: "Retirer de la liste",
        .listFind: "Combien y figurent ?",
        .peopleUserKeys: "Clés d’utilisateurs",
        .peopleSubscriptions: "Numéros d’abonnements",
        .peoplePushTokens: "Jetons push",
        .peopleTitle: "Personnes",
        .peopleNote:
            "Une clé vaut pour tous les abonnements de l’utilisateur. Aucune page n’énumère les membres "
            + "d’une liste ; le journal garde combien ont été nommés, et non qui.",
        .peopleBy: "Désignés par",
        .peopleWanted: "Un par ligne",
        .peopleHint: "5 000 à la fois ; pour plus, un fichier avec pushmta exclusion import.",
        .peopleWrong:
            "La ligne {0} ne peut pas en être un. Rien n’a été modifié : corrigez la ligne, ou choisissez ce "
            + "que sont les lignes.",
        .peopleNotShown: "Les jetons push ne sont pas montrés de nouveau : collez-les encore une fois.",
        .peopleNone: "Personne n’est nommé. Saisissez au moins une ligne.",
        .peopleTooMany:
            "Il y en a plus de {0}. Rien n’a été modifié : pour un fichier, utilisez pushmta exclusion import.",
        .manageLists: "Créer, remplir et supprimer des listes d’exclusion",
        .relatedPages: "Voir aussi",
        .firstRows: "Retour au début",
        .moreRows: "Suite",
        .auditListAdd: "a créé une liste d’exclusion",
        .auditListRemove: "a supprimé une liste d’exclusion",
        .auditListPut: "a mis des personnes sur une liste d’exclusion",
        .auditImport: "a importé des abonnements",
        .auditImportUndo: "a annulé une importation",
        .auditTokenConfirm: "a déclaré morts des jetons douteux",
        .auditTokenUndo: "a annulé des réponses de la passerelle sur des jetons",
        .auditListTake: "a retiré des personnes d’une liste d’exclusion",
        .auditListFind: "a demandé qui figure sur une liste d’exclusion",
        // What stands in the menu and in lists of services.
        .menuServices: "Services",
        .servicesTitle: "Services et applications",
        .columnBundle: "Bundle ID ou paquet",
        .applicationsOf: "Applications de",
        .noApplicationsYet: "Il n’a pas encore d’application.",
        .noServices:
            "Il n’y a pas encore de service. L’administration en déclare un ici, ou avec pushmta service add.",
        .firstServices: "Retour aux premiers",
        .moreServices: "Autres services",
        .serviceDone: "Le service est déclaré. Ensuite : ses applications.",
        .pairDone: "Les deux applications sont déclarées. Ensuite : donner à chacune ses identifiants.",
        .addPairButton: "Ajouter la paire iOS",
        .addAndroidButton: "Ajouter Android",
        // How an application stands.
        .standingReady: "prête",
        .standingCircuit: "circuit ouvert",
        .standingTrouble: "la passerelle n’accepte rien",
        .standingNoAccount: "pas de compte",
        .standingNoCredential: "pas d’identifiants",
        .standingExpired: "identifiants expirés",
        .standingExpires: "identifiants bientôt expirés",
        .platformIOS: "iOS",
        .platformAndroid: "Android",
        .environmentSandbox: "bac à sable",
        .environmentProduction: "production",
        // One application.
        .factEnvironment: "Environnement",
        .factBundleID: "Bundle ID",
        .factPackage: "Nom du paquet",
        .factMessageIDs: "Identifiants des messages",
        .factConnector: "Connecteur",
        .factGateway: "Passerelle",
        .factLabel: "Libellé",
        .messageIDsUUID: "uuid : les apps renvoient le texte tel quel",
        .messageIDsInt32: "int32 : les apps le lisent avec Integer.valueOf",
        .noAccount: "aucun",
        .iconWords: "Icône",
        .circuitIsOpen: "Son circuit est ouvert, aucun message n’est envoyé et aucun n’échoue : {0}",
        .gatewayTakesNothing:
            "La passerelle du compte {0} n’accepte rien depuis {1} ({2}). {3} messages attendent et gardent leurs tentatives ; {4} "
            + "sondes ont été envoyées.",
        .gatewayRemedy:
            "Attendez : l’envoi reprend de lui-même dès qu’une sonde est acceptée. « Reprendre l’envoi » essaie tout de suite.",
        .routeIsWrong: "Chaque message serait refusé : {0}.",
        .credentialUnfit: "Son compte parle {0}, qui n’accepte pas : {1}.",
        .credentialUnfitRemedy:
            "Téléversez d’autres identifiants, ou choisissez un autre compte avec « Modifier ».",
        .accountInactive: "Le compte {0} est en pause : rien n’est envoyé par lui.",
        .noAccountText: "Elle n’a pas de compte externe : une diffusion doit en nommer un.",
        .noAccountRemedy: "Un administrateur en choisit un avec « Modifier ».",
        .applicationDone: "L’application est déclarée. Ensuite : téléverser ses identifiants.",
        .resumeDone:
            "Plus rien ne la retient : ses messages sont de nouveau envoyés. Si la cause est toujours là, le circuit se rouvre.",
        .credentialDone:
            "Les identifiants sont scellés et enregistrés. Les processus enfants les reprennent en quelques secondes.",
        .credentialTitle: "Identifiants",
        .credentialNote: "Les identifiants eux-mêmes sont scellés ; personne ne peut les lire ici.",
        .noCredentialText:
            "Elle n’a pas d’identifiants, donc sa passerelle n’accepte rien. L’administration les téléverse.",
        .credentialKind: "Nature",
        .credentialStored: "Enregistrés",
        .credentialFingerprint: "Empreinte (SHA-256)",
        .credentialOthers: "Partagés avec",
        .credentialAPNsKey: "clé APNs (.p8)",
        .credentialCertificate: "certificat APNs (.p12)",
        .credentialServiceAccount: "compte de service (JSON)",
        .credentialProjectKey: "clé de projet",
        .credentialKeyID: "ID de la clé",
        .credentialTeamID: "ID de l’équipe",
        .credentialProject: "Projet",
        .credentialTopics: "Topics",
        .credentialEnvironments: "Environnements",
        .credentialSubject: "Émis pour",
        .expiryNever: "n’expire pas",
        .expiryOver: "expirés le {0}, il y a {1}",
        .expiryIn: "expirent le {0}, dans {1}",
        .snippetNote:
            "Ce que colle la personne qui développe l’app. L’hôte est celui où les appareils joignent pushmta web ; mettez le vôtre à "
            + "la place de",
        .declaredTitle: "Ce qu’elle déclare",
        .declaresNothing: "Rien : les diffusions peuvent utiliser toute variable et tout son.",
        .columnVariable: "Variable",
        .columnType: "Type",
        .columnDefault: "Valeur par défaut",
        .columnSound: "Son",
        .columnParameter: "Paramètre d’abonnement",
        .columnKept: "Conservé dans",
        .soundOfSystem: "le système",
        // Letting an application send again.
        .resumeButtonOfApp: "Reprendre l’envoi",
        .resumeTitle: "Laisser {0} envoyer de nouveau tout de suite ?",
        .resumeText:
            "Son circuit se ferme et les passerelles en difficulté sont essayées tout de suite, au lieu de la prochaine sonde. Si la "
            + "cause est toujours là, le circuit se rouvre ; aucun message n’échoue pour cela.",
        .resumeBelieve: "Les jetons push refusés sont vraiment mauvais",
        .resumeBelieveHint:
            "Leurs messages échouent et leurs abonnements sont désactivés, dans toutes les diffusions en cours, au lieu de rouvrir le "
            + "circuit. Ne cochez que si l’application et ses identifiants sont justes.",
        .resumeNow: "Reprendre l’envoi",
        // Sending a test push.
        .testButton: "Envoyer un test",
        .testTitle: "Test de {0}",
        .testText:
            "Un message va à un appareil, par le chemin de tous les messages : il montre si identifiants, compte et app vont ensemble. "
            + "Sa page dit ensuite ce que la passerelle a répondu. Il est consigné dans l’audit.",
        .fieldSeed: "Adresse de contrôle",
        .fieldSeedHint: "Avec pushmta seed add, le jeton push d’un appareil devient une adresse de contrôle.",
        .seedNone: "aucune : l’abonnement ci-dessous",
        .fieldSubscription: "Numéro d’un abonnement",
        .fieldSubscriptionHint: "La page Abonnés le trouve par la clé d’utilisateur.",
        .fieldTestTitle: "Titre",
        .testTitleWords: "Test",
        .fieldTestBody: "Texte",
        .testBodyWords: "Si vous lisez ceci, cela fonctionne.",
        .testSend: "Envoyer",
        .testToNobody:
            "Il n’est pas dit à qui. Choisissez une adresse de contrôle, ou saisissez le numéro d’un abonnement.",
        .testDone: "Le test est en route. La réponse de la passerelle s’affiche ici d’elle-même.",
        .auditTest: "a envoyé un test d’une application",
        // Forms that declare something.
        .fieldName: "Nom",
        .fieldNameHint: "Son nom dans les commandes et en SQL. Il ne peut pas changer ensuite.",
        .fieldLabel: "Libellé",
        .chooseOne: "À choisir",
        .newServiceTitle: "Ajouter un service",
        .newServiceText: "Un service est ce que le marketing appelle l’app ; il a une application par plateforme.",
        .newServiceButton: "Ajouter un service",
        .newPairTitle: "Ajouter une paire iOS",
        .newPairText:
            "Deux applications à la fois : production pour l’App Store et TestFlight, bac à sable pour les builds de Xcode. Chacune "
            + "reçoit sa propre clé d’intégration.",
        .pairNameHint: "Le nom de l’application de production ; celui du bac à sable finit par {0}.",
        .newPairButton: "Ajouter les deux",
        .newAndroidTitle: "Ajouter une application Android",
        .newAndroidButton: "Ajouter l’application",
        .noServicesForForm: "Une application appartient à un service, et il n’y en a pas : ajoutez d’abord un service.",
        .bundleHint: "Comme dans Xcode, par exemple com.example.shop.",
        .packageHint: "Comme dans le manifeste de l’app, par exemple com.example.shop.",
        .formatHint:
            "int32 si une app en service a le SDK Campaign d’Adobe, dont les exemples lisent l’identifiant comme un nombre ; uuid "
            + "sinon. Le mauvais choix perd des accusés de réception ou fait planter l’app.",
        .formatMissing:
            "Il n’est pas dit comment s’écrivent les identifiants des messages. Choisissez int32 ou uuid.",
        .fieldProductionAccount: "Compte de production",
        .fieldSandboxAccount: "Compte du bac à sable",
        .fieldProductionKey: "Clé d’intégration de production",
        .fieldSandboxKey: "Clé d’intégration du bac à sable",
        .noAccountYet: "pas encore",
        .keyHint:
            "Avec elle le SDK de l’app s’enregistre. Gardez celle que l’app a ; laissez vide pour une nouvelle.",
        .copyTitle: "Copier {0}",
        .copyText:
            "La copie reçoit les variables, les sons, les paramètres d’abonnement et l’icône. Elle ne reçoit ni identifiants ni "
            + "abonnements.",
        .copyButton: "Copier",
        .integrationKeyTitle: "Clé d’intégration",
        // Uploading a credential.
        .credentialFormTitle: "Identifiants de {0}",
        .credentialFormText:
            "Ils sont vérifiés, scellés tout de suite, et jamais montrés de nouveau. Ce que l’application avait avant est remplacé.",
        .credentialFormButton: "Téléverser des identifiants",
        .chooseFile: "Choisir le fichier",
        .materialIOS: "Clé (.p8) ou certificat (.p12) d’Apple",
        .materialIOSHint:
            "Le texte du fichier .p8. Un fichier .p12 n’est pas un texte : sans le bouton ci-dessus, collez son Base64, tel que "
            + "base64 FICHIER l’affiche.",
        .materialAndroid: "Compte de service de Google (JSON) ou clé de projet",
        .materialAndroidHint: "Le texte du fichier JSON de la console Firebase, ou la clé de serveur seule.",
        .keyIDHint: "Pour un fichier .p8 : dix caractères qu’Apple montre à côté de la clé.",
        .teamIDHint: "Pour un fichier .p8 : dix caractères de votre équipe de développement.",
        .fieldPassphrase: "Mot de passe du fichier .p12",
        .passphraseHint: "Laissez vide si le fichier n’en a pas.",
        .fieldBoth: "Le certificat sert au bac à sable et à la production",
        .fieldBothHint: "Apple doit l’avoir émis pour les deux.",
        .materialMissing: "Il n’y a pas d’identifiants : choisissez un fichier, ou collez son texte.",
        .keyIDsMissing:
            "Une clé APNs demande l’ID de la clé et celui de l’équipe. Apple montre les deux à côté de la clé. Donnez aussi le "
            + "fichier de nouveau.",
        .noSealingKey:
            "Cette console n’a pas de clé pour sceller des identifiants. {0} Ou téléversez-les sur un hôte qui a la clé : pushmta "
            + "credential set.",
        // External accounts.
        .accountsTitle: "Comptes externes",
        .accountsText: "Le chemin des diffusions vers une passerelle : un connecteur et son adresse.",
        .noAccounts:
            "Il n’y a pas encore de compte externe. L’administration en ajoute un ici, ou avec pushmta account add.",
        .firstAccounts: "Retour aux premiers",
        .moreAccounts: "Autres comptes",
        .accountActive: "en service",
        .accountPaused: "en pause",
        .accountDone: "Le compte est déclaré.",
        .connectorIOSHTTP2: "APNs par HTTP/2",
        .connectorIOSBinary: "l’ancien protocole binaire d’APNs, par une passerelle qui le remplace",
        .connectorAndroidV1: "FCM, une connexion par processus enfant",
        .connectorAndroidV2: "FCM, plusieurs connexions par processus enfant",
        .newAccountTitle: "Ajouter un compte externe",
        .newAccountText: "Laissez hôte et port vides pour les passerelles d’Apple et de Google elles-mêmes.",
        .newAccountButton: "Ajouter un compte",
        .accountEnvironmentHint: "Les passerelles d’Apple en ont deux ; celle de Google en a un.",
        .fieldHost: "Hôte",
        .fieldHostHint: "Seulement pour un proxy ou un remplaçant.",
        .fieldPort: "Port",
        .connectorMissing: "Ce connecteur n’existe pas. Choisissez-en un dans la liste.",
        .portWrong: "Le port n’est pas un nombre de 1 à 65535. Vide, c’est celui de la passerelle.",
        .portMissing: "Le port n’est pas un nombre de 1 à 65535.",
        .binaryClosed:
            "Apple a fermé sa passerelle binaire le 31 mars 2021. Nommez l’hôte d’une passerelle qui la remplace, ou choisissez "
            + "ios-http2.",
        // Changing what there is.
        .changeButton: "Modifier",
        .changeTitle: "Modifier {0}",
        .formWrong: "Rien n’est enregistré : ce qui ne va pas figure à son champ.",
        .formStale:
            "Quelqu’un d’autre l’a modifié depuis que cette page a été chargée ; rien n’est donc enregistré. Notez "
            + "ce que vous avez saisi, puis",
        .formLoadAgain: "chargez son état actuel.",
        .changeGeneral: "Général",
        .changeBuiltIn: "Ce que l’app contient",
        .changeBuiltInNote: "À ne modifier qu’avec l’app elle-même.",
        .labelHint: "Son nom pour les personnes.",
        .accountChangeHint: "Les diffusions existantes gardent le compte avec lequel elles ont été créées.",
        .fieldRate: "Messages par seconde",
        .rateHint: "Au plus, sur tous les hôtes ensemble. Vide : pas de limite propre.",
        .rateWrong: "Ce n’est pas un débit. Donnez un nombre de {0} à {1}, ou laissez le champ vide.",
        .bundleChangeHint: "Vaut aussitôt, y compris pour ce que les diffusions en cours n’ont pas encore envoyé.",
        .keyChangeHint: "Les apps qui en ont une autre ne peuvent plus s’enregistrer.",
        .formatChangeHint:
            "Ne change pas pendant qu’une diffusion est en cours. Le mauvais perd des accusés ou fait planter l’app.",
        .formatUnderWay:
            "Une diffusion de cette application est en cours, et ses identifiants de message ont le format actuel. "
            + "Modifiez-le quand toutes seront terminées.",
        .keyTaken: "Une autre application a déjà cette clé d’intégration.",
        .accountMissing: "Ce compte n’existe pas pour cette plateforme. Choisissez-en un dans la liste.",
        .accountUnfit:
            "Ce compte parle {0}, qui n’accepte pas les identifiants de l’application ({1}). Choisissez un autre compte, "
            + "ou téléversez d’abord d’autres identifiants.",
        .iconRemove: "Retirer l’icône",
        .iconChoose: "Choisir une autre icône",
        .iconPaste: "Ou la coller en Base64",
        .iconHint: "Un fichier PNG de 48×48 pixels, pour les aperçus.",
        .iconNoBase64: "ce qui a été collé n’est pas du Base64",
        .iconNoBase64Remedy: "choisissez le fichier PNG, ou collez ce que base64 FICHIER affiche",
        .variablesTitle: "Variables",
        .variablesHint:
            "Ce que le code de l’app comprend dans un message, outre les champs habituels. Sans déclaration, une "
            + "diffusion peut tout employer ; sinon, celle qui en emploie une autre est refusée.",
        .variableAdd: "Ajouter une variable",
        .soundsTitle: "Sons",
        .soundsHint:
            "Ce que l’app peut jouer : un de ses fichiers, tel que chime.caf, ou un son du système. Même règle que pour "
            + "les variables.",
        .soundAdd: "Ajouter un son",
        .soundOfApplication: "l’app",
        .columnOrigin: "Vient avec",
        .parametersTitle: "Paramètres d’abonnement",
        .parametersHint:
            "Ce que l’app donne à l’enregistrement, et où c’est conservé : user_key, locale, time_zone, recipient.NOM ou "
            + "parameters.NOM. Les autres restent des paramètres sous leur propre nom.",
        .parameterAdd: "Ajouter un paramètre",
        .applicationChanged: "L’application est modifiée. Les processus enfants l’appliquent en quelques secondes.",
        .serviceChanged: "Le service est modifié.",
        .fieldMapping: "Mapping de cible",
        .mappingStandard: "standard : les abonnements seuls",
        .mappingHint:
            "Où les clés utilisateur sont rapprochées des personnes ; filtres et textes utilisent ce qui y est "
            + "dit d’une personne. pushmta mapping add en enregistre un.",
        .fieldTrust: "Confiance dans les clés utilisateur",
        .trustOpen: "open : l’appareil dit à qui il est",
        .trustSigned: "signed : l’appareil le prouve avec un jeton de votre backend",
        .trustServer: "server : seuls l’API et les imports le disent",
        .trustHint:
            "Tant que c’est open, quiconque a la clé d’intégration de l’app peut s’enregistrer au nom de "
            + "n’importe qui. Clés des preuves : pushmta service set --proof-key.",
        .trustMissing: "Choisissez un élément de la liste.",
        .trustNoKey:
            "Le service n’a pas de clé pour vérifier les preuves. Donnez-lui-en d’abord une : pushmta service "
            + "set {0} --proof-key FICHIER --proof-key-id KID",
        .fieldAccessURL: "URL d’accès d’Adobe Campaign",
        .accessURLHint:
            "À la place du connecteur ci-dessus, si vous l’avez sous la main ; seul son chemin compte : {0}.",
        .accessURLWrong:
            "Ce n’est pas l’URL d’accès d’un connecteur. Prenez l’une de celles-ci, ou laissez le champ vide "
            + "et choisissez le connecteur : {0}.",
        .connectorUnfit:
            "{0} n’accepte pas les identifiants de ces applications : {1}. Donnez-leur d’abord d’autres "
            + "identifiants ou un autre compte.",
        .connectorOfOther: "Le compte est pour l’autre plateforme. Ajoutez un autre compte pour elle.",
        .hostOfConnector:
            "Sur cet hôte se trouve une passerelle pour {0}. Donnez l’hôte et le port de celle du nouveau "
            + "connecteur.",
        .authoritiesHint:
            "Le chemin absolu d’un fichier PEM, le même sur chaque hôte qui envoie. Vide : comme dans les "
            + "réglages.",
        .authoritiesWrong: "Ce n’est pas le chemin absolu d’un fichier, tel que /etc/pushmta/proxy-ca.pem.",
        .authoritiesNote: "Ce fichier doit se trouver sur chaque hôte qui envoie.",
        .serviceLabelHint: "Son nom pour les personnes. Le nom dans les commandes reste.",
        .accountChanged:
            "Le compte est modifié. Ses processus enfants sont remplacés l’un après l’autre, en quelques secondes.",
        .changeAccountText:
            "Ce que les diffusions en cours n’ont pas encore envoyé part selon ce qui est réglé ici, dès que les "
            + "processus enfants sont remplacés : en quelques secondes.",
        .hostChangeHint: "La passerelle elle-même : {0}. Un autre est un proxy ou un remplaçant.",
        .hostOfOthers:
            "{0} est de l’autre environnement que ces applications, dont chaque jeton push y est mauvais : {1}.",
        .hostWrong: "Ce n’est pas un hôte. Donnez un nom ou une adresse IP, sans https:// et sans port.",
        .fieldConnections: "Connexions d’un processus enfant",
        .connectionsHint: "De 1 à 100. Vide : comme dans les réglages.",
        .connectionsWrong: "Ce n’est pas un nombre de 1 à 100.",
        .fieldFeedbackHost: "Hôte du service de retour",
        .fieldFeedbackPort: "Port du service de retour",
        .feedbackHint: "Vide : celui de la passerelle.",
        .stateHint: "Tant qu’il est en pause, rien n’est envoyé par lui, et les messages attendent.",
        .bySetting: "comme dans les réglages",
        .noLimit: "pas de limite propre",
        .factAuthorities: "Autorités de certification",
        .accountPausedText: "Il est en pause : rien n’est envoyé par lui, et les messages attendent.",
        .accountApplications: "Applications qui passent par lui",
        .accountUnused: "Aucune ne l’a choisi.",
        .auditServiceChange: "a modifié un service",
        .auditAccountChange: "a modifié un compte externe",
        .auditApplicationChange: "a modifié une application",
        // What the audit log tells of them.
        .auditServiceAdd: "a déclaré un service",
        .auditAccountAdd: "a déclaré un compte externe",
        .auditApplicationAdd: "a déclaré une application",
        .auditApplicationCopy: "a copié une application",
        .auditApplicationResume: "a laissé une application envoyer de nouveau",
        .auditCredentialSet: "a téléversé des identifiants",
    ]
}
