import PushCore
import Store

/// Texts about applications, their accounts and credentials.
struct ApplicationWords: Sendable {
    let catalogue: Catalogue

    func platform(_ platform: Platform) -> String {
        catalogue[platform == .ios ? .platformIOS : .platformAndroid]
    }

    /// Google has a single environment, which is not shown.
    func environment(_ environment: ApplicationEnvironment, _ platform: Platform) -> String {
        guard platform == .ios else { return "" }
        return catalogue[environment == .sandbox ? .environmentSandbox : .environmentProduction]
    }

    func messageIDs(_ format: MessageIDFormat) -> String {
        catalogue[format == .uuid ? .messageIDsUUID : .messageIDsInt32]
    }

    /// Whose word a service accepts for the owner of a device.
    func trust(_ trust: UserKeyTrust) -> String {
        switch trust {
        case .open: catalogue[.trustOpen]
        case .signed: catalogue[.trustSigned]
        case .server: catalogue[.trustServer]
        }
    }

    func kind(_ kind: CredentialKind) -> String {
        switch kind {
        case .apnsKey: catalogue[.credentialAPNsKey]
        case .apnsCertificate: catalogue[.credentialCertificate]
        case .fcmServiceAccount: catalogue[.credentialServiceAccount]
        case .fcmProjectKey: catalogue[.credentialProjectKey]
        }
    }

    /// The title of a credential attribute; the database's own name for one without a title here.
    func attribute(_ name: String) -> String {
        switch name {
        case "key_id": catalogue[.credentialKeyID]
        case "team_id": catalogue[.credentialTeamID]
        case "project_id": catalogue[.credentialProject]
        case "topics": catalogue[.credentialTopics]
        case "environments": catalogue[.credentialEnvironments]
        case "name": catalogue[.credentialSubject]
        default: name
        }
    }

    /// The state of an application in two words and a style. The worst state wins.
    func standing(_ application: ServiceLine.Application) -> (phrase: Phrase, style: String) {
        let notice = application.credentialSecondsLeft.flatMap { ExpiryNotice(secondsLeft: $0) }
        if application.circuit != .closed { return (.standingCircuit, "bad") }
        if application.isInTrouble { return (.standingTrouble, "bad") }
        if application.account == nil { return (.standingNoAccount, "fair") }
        guard application.hasCredential else { return (.standingNoCredential, "fair") }
        guard let notice else { return (.standingReady, "health-alive") }
        return notice == .over ? (.standingExpired, "bad") : (.standingExpires, "fair")
    }

    /// When a credential expires, with its style.
    func expiry(_ credential: CredentialFacts) -> (text: String, style: String) {
        guard let expiresAt = credential.expiresAt, let left = credential.secondsLeft else {
            return (catalogue[.expiryNever], "")
        }
        let day = String(Figures.time(expiresAt).prefix(10))
        guard left > 0 else { return (catalogue.text(.expiryOver, day, Figures.duration(-left)), "bad") }
        let style = ExpiryNotice(secondsLeft: left) == nil ? "" : "fair"
        return (catalogue.text(.expiryIn, day, Figures.duration(left)), style)
    }
}
