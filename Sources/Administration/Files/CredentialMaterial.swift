import Crypto
import Foundation
import Gateways
import PushCore
import Store

/// A credential as its file holds it, checked.
package struct CredentialMaterial: Sendable {
    package let kind: CredentialKind
    /// What is sealed: the file's bytes, with the passphrase where there is one.
    package let bytes: [UInt8]
    /// What is not secret, as a JSON object.
    package let attributes: String
    /// What people compare: SHA-256 of the certificate, or of the file, in hexadecimal digits.
    package let fingerprint: String
    /// The certificate, if it is one.
    package let certificate: ClientCertificate?
    /// Until when it is good; nil when it does not say.
    package var expiresAt: Date?

    /// Reads and checks a file: for iOS Apple's .p8 key with its key id and team id, or a certificate (.p12) with its
    /// passphrase; for Android Google's service account, or a project key.
    ///
    /// - Parameter passphrase: asked for only if the file is a certificate.
    package init(
        file: String,
        platform: Platform,
        keyID: String? = nil,
        teamID: String? = nil,
        passphrase: () throws -> String = { "" }
    ) throws {
        try self.init(
            contents: Array(
                try SmallFile.contents(file, "credential file", "give \(CredentialForm.wanted(platform))")
            ),
            naming: .file(file),
            platform: platform,
            keyID: keyID ?? Self.nameKeyID(file),
            teamID: teamID,
            passphrase: passphrase
        )
    }

    /// Checks what a file holds, wherever it came from.
    ///
    /// - Parameter naming: how an error calls what was given.
    package init(
        contents: [UInt8],
        naming: CredentialNaming,
        platform: Platform,
        keyID: String?,
        teamID: String?,
        passphrase: () throws -> String
    ) throws {
        let form = CredentialForm(contents)
        if let fault = Self.fault(contents, form, platform) { throw CommandFailure(.data, "\(naming.file): \(fault).") }
        guard form.platform == platform else {
            throw CommandFailure(
                .data,
                "\(naming.file) is \(form.text); an application of platform \(platform.rawValue) takes \(CredentialForm.wanted(platform))."
            )
        }
        do {
            switch form {
            case .certificate: try self.init(certificate: contents, passphrase: try passphrase())
            // A key in PEM has no passphrase here.
            case .pemCertificate: try self.init(certificate: contents, passphrase: "")
            case .projectKey: try self.init(projectKey: contents)
            case .serviceAccount: try self.init(serviceAccount: contents)
            case .apnsKey, .bareCertificate, .unknown:
                try self.init(apnsKey: contents, naming, keyID: keyID, teamID: teamID)
            }
        } catch let error as GatewayCredentialError {
            throw CommandFailure(.data, "\(naming.file): \(error)")
        }
    }

    /// What a file is that looks like none of the platform's, or like a project key of a length that none has.
    private static func fault(_ contents: [UInt8], _ form: CredentialForm, _ platform: Platform) -> String? {
        switch (platform, form) {
        case (.ios, .projectKey), (.ios, .unknown): MaterialFault.text(contents)
        case (.android, .unknown): MaterialFault.json(contents)
        case (.android, .projectKey) where !projectKeyLengths.contains(contents.count): MaterialFault.json(contents)
        default: nil
        }
    }

    private init(_ kind: CredentialKind, _ bytes: [UInt8], _ attributes: [(String, Cell)]) {
        self.kind = kind
        self.bytes = bytes
        self.attributes = Cell.object(attributes).json
        fingerprint = Self.hexadecimal(SHA256.hash(data: bytes))
        certificate = nil
    }

    private init(certificate contents: [UInt8], passphrase: String) throws(GatewayCredentialError) {
        let certificate = try ClientCertificate(file: contents, passphrase: passphrase)
        kind = .apnsCertificate
        bytes = SealedCertificate(pkcs12: contents, passphrase: passphrase).material
        let environments = [
            certificate.allowsSandbox ? "sandbox" : nil, certificate.allowsProduction ? "production" : nil,
        ]
        attributes =
            Cell.object([
                ("name", .text(certificate.name)), ("topics", .text(certificate.topics.joined(separator: ", "))),
                ("environments", .text(environments.compactMap { $0 }.joined(separator: ", "))),
            ]).json
        fingerprint = certificate.fingerprint
        expiresAt = certificate.notAfter
        self.certificate = certificate
    }

    private init(serviceAccount json: [UInt8]) throws(GatewayCredentialError) {
        let account = try GoogleAccount(json: json)
        self.init(.fcmServiceAccount, json, [("project_id", .text(account.projectID))])
    }

    private init(projectKey contents: [UInt8]) throws(GatewayCredentialError) {
        _ = try FCMProjectKey(String(decoding: contents, as: UTF8.self))
        // The line end of the file is not part of the key.
        let key = contents.filter { $0 > 0x20 }
        guard Self.projectKeyLengths.contains(key.count) else {
            throw GatewayCredentialError(
                .malformed,
                "a project key of FCM has \(Self.projectKeyLengths.lowerBound) to \(Self.projectKeyLengths.upperBound) characters and this word has \(key.count): copy the server key from the Firebase console"
            )
        }
        self.init(.fcmProjectKey, key, [])
    }

    /// Old keys have 39 characters (AIza…), later ones 152; there is no official bound.
    private static let projectKeyLengths = 30...400

    private init(apnsKey pem: [UInt8], _ naming: CredentialNaming, keyID: String?, teamID: String?) throws {
        guard let keyID, !keyID.isEmpty else {
            throw CommandFailure(
                .data,
                "The key's id is missing: give \(naming.keyID) with the ten characters that Apple shows beside the key."
            )
        }
        guard let teamID, !teamID.isEmpty else {
            throw CommandFailure(
                .data,
                "The team's id is missing: give \(naming.teamID) with the ten characters of your Apple developer team."
            )
        }
        _ = try APNsTokenKey(keyID: keyID, teamID: teamID, pem: pem)
        try Self.requireCapitals(keyID, "The key's id", naming.keyID)
        try Self.requireCapitals(teamID, "The team's id", naming.teamID)
        self.init(.apnsKey, pem, [("key_id", .text(keyID)), ("team_id", .text(teamID))])
    }

    /// Apple's ids have capital letters only, and APNs refuses each message with another id (InvalidProviderToken).
    private static func requireCapitals(_ id: String, _ what: String, _ option: String) throws {
        guard id.utf8.contains(where: { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else { return }
        throw CommandFailure(
            .data,
            "\(what) has small letters, and Apple's have ten capital letters and digits: give \(option) \(id.uppercased()) if that is what Apple shows."
        )
    }

    /// Apple names the file `AuthKey_KEYID.p8`.
    private static func nameKeyID(_ file: String) -> String? {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst(8).dropLast(3))
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension CredentialMaterial {
    /// Checks what can be known before the gateway says it: that its time is not over, and that it is for the application's
    /// environment and bundle id.
    package func check(environment: ApplicationEnvironment, bundleID: String, now: Date) throws {
        do {
            if let certificate {
                try certificate.requireValidity(at: now)
                try certificate.requireEnvironment(isSandbox: environment == .sandbox)
                try certificate.requireTopic(bundleID)
            }
        } catch {
            throw CommandFailure(.data, "\(error)")
        }
        guard let expiresAt, certificate == nil else { return }
        guard expiresAt > now else {
            throw CommandFailure(
                .data,
                "--expires is in the past: give the day on which the credential ends, or a new one."
            )
        }
        guard expiresAt <= now + Self.longestLife else {
            throw CommandFailure(
                .data,
                "--expires is more than ten years away: check the year, or leave the option out for a credential that does not end."
            )
        }
    }

    /// Checks that this host lets a credential read what it reads and ask where it asks: uploading one is no right to that.
    ///
    /// - Parameter accounts: the external accounts.
    package func requireAllowed(_ settings: NMACSettings, _ accounts: [AccountRow]) throws {
        guard kind == .fcmServiceAccount else { return }
        let hasOwnAuthorities = !settings.relay.trustedCertsChain.isEmpty
        let gateways = accounts.filter { hasOwnAuthorities || $0.namesAuthorities }.map(\.host)
        do {
            try GoogleAccount(json: bytes).requireAllowed(by: TokenSourcePolicy(settings.fcm), gateways: gateways)
        } catch {
            throw CommandFailure(.data, "\(error)")
        }
    }

    /// Ten years of 365 days and three leap days: nobody plans the end of a key for later, and a mistyped year gives centuries.
    private static let longestLife: TimeInterval = (10 * 365 + 3) * 86_400

    /// Checks that a certificate may serve both environments, where somebody says so.
    package func requireBothEnvironments(_ naming: CredentialNaming = .file("")) throws {
        guard certificate?.namesBothEnvironments == true else {
            throw CommandFailure(
                .data,
                "\(naming.bothEnvironments) is for certificates that Apple issued for sandbox and production, and this one does not say so: set a certificate for each environment."
            )
        }
    }
}

/// How errors call what somebody gives with a credential: by options of a command, or by fields of a form.
package struct CredentialNaming: Sendable {
    /// What holds the credential.
    package let file: String
    /// What the key's id is given with.
    package let keyID: String
    /// What the team's id is given with.
    package let teamID: String
    /// What says that a certificate serves both environments.
    package let bothEnvironments: String

    /// A file that a command names.
    package static func file(_ path: String) -> CredentialNaming {
        CredentialNaming(
            file: path,
            keyID: "--key-id",
            teamID: "--team-id",
            bothEnvironments: "--both-environments"
        )
    }

    /// A form of the console.
    package static let form = CredentialNaming(
        file: "What was uploaded",
        keyID: "the field of the key's id",
        teamID: "the field of the team's id",
        bothEnvironments: "The tick for both environments"
    )
}

/// What a credential's file looks like.
package enum CredentialForm: Sendable {
    /// A private key in PEM: Apple's .p8 file.
    case apnsKey
    /// PKCS#12: a certificate with its key.
    case certificate
    /// A JSON object: Google's service account.
    case serviceAccount
    /// One word: FCM's project key.
    case projectKey
    /// A certificate and its key in PEM.
    case pemCertificate
    /// A certificate in PEM without its key.
    case bareCertificate
    case unknown

    package init(_ bytes: [UInt8]) {
        // DER and BER: a SEQUENCE.
        if bytes.first == 0x30, bytes.count > 1, bytes[1] >= 0x80 || Int(bytes[1]) == bytes.count - 2 {
            self = .certificate
            return
        }
        var text = Substring(String(decoding: bytes.prefix(65_536), as: UTF8.self))
        // Editors of Windows put a byte order mark before it.
        if text.first == "\u{FEFF}" { text.removeFirst() }
        let words = text.split(whereSeparator: \.isWhitespace)
        if let first = words.first?.first, "{[\"<".contains(first) {
            self = .serviceAccount
        } else if text.contains("BEGIN CERTIFICATE") || text.contains("BEGIN TRUSTED CERTIFICATE") {
            self = text.contains("PRIVATE KEY-----") ? .pemCertificate : .bareCertificate
        } else if text.contains("-----BEGIN ") {
            self = .apnsKey
        } else if words.count == 1, words[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            self = .projectKey
        } else {
            self = .unknown
        }
    }

    /// What it is, for people.
    package var text: String {
        switch self {
        case .apnsKey: "an APNs key"
        case .certificate: "a certificate (PKCS#12)"
        case .serviceAccount: "a JSON file, as that of a service account"
        case .projectKey: "a single word, as a project key of FCM"
        case .pemCertificate: "a certificate with its key in PEM"
        case .bareCertificate: "a certificate in PEM without its private key"
        case .unknown: "of no form that a credential has"
        }
    }

    /// The platform that takes it; nil for none.
    package var platform: Platform? {
        switch self {
        case .apnsKey, .certificate, .pemCertificate: .ios
        case .serviceAccount, .projectKey: .android
        case .bareCertificate, .unknown: nil
        }
    }

    /// What a platform takes, for people.
    package static func wanted(_ platform: Platform) -> String {
        switch platform {
        case .ios: "Apple's key (.p8) or a certificate with its private key (.p12, or both in PEM)"
        case .android: "Google's service account (JSON file) or a file with FCM's project key"
        }
    }
}

/// Whether the credentials of applications can be used over an external account: otherwise every delivery fails at its start.
package enum CredentialFit {
    /// Checks one application's credential against its account.
    ///
    /// - Parameter application: its name, which the error says.
    package static func require(_ kind: CredentialKind, _ account: AccountRow, application: String) throws {
        guard !kind.suits(account.connector) else { return }
        throw CommandFailure(
            .data,
            "External account \(account.name) is of connector \(account.connector.rawValue), which needs \(CredentialChoice.wanted(account.connector)), and application \(application) has \(kind.text): give it another credential, or choose another account."
        )
    }

    /// Checks the applications whose deliveries go over an account, before its connector is changed.
    package static func require(_ connector: Connector, of account: AccountRow, _ store: Store) async throws {
        guard connector != account.connector else { return }
        let credentials = try await store.credentials()
        let unfit = try await store.applications().filter { application in
            guard application.accountID == account.id, let id = application.credentialID else { return false }
            return credentials.first { $0.id == id }.map { !$0.kind.suits(connector) } ?? false
        }
        guard !unfit.isEmpty else { return }
        let names = unfit.map(\.name).joined(separator: ", ")
        throw CommandFailure(
            .data,
            "Connector \(connector.rawValue) needs \(CredentialChoice.wanted(connector)), which these applications of external account \(account.name) do not have: \(names). Set their credential first (pushmta credential set), or give them another account (pushmta app set --account)."
        )
    }
}

/// Seals credentials and binds them to applications.
package struct CredentialWriter: Sendable {
    package let store: Store
    /// Where the key is named.
    package let settings: Settings

    package init(store: Store, settings: Settings) {
        self.store = store
        self.settings = settings
    }

    /// Seals and stores something while nobody changes the key: what is sealed under a key that goes meanwhile is lost.
    package func locked<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment) else {
            // Sealing says what is missing.
            return try await body()
        }
        return try await source.locked(for: .sealing, store) { _ in try await body() }
    }

    /// Checks that the key is still there under which a credential has been sealed and stored: an editor knows no lock.
    package func confirm(_ row: CredentialRow, application: String) throws {
        guard try !CredentialKeyFile.keyring(settings).keyIDs.contains(row.sealKeyID) else { return }
        throw CommandFailure(
            .negative,
            "The key file was changed while the credential of application \(application) was sealed, and does not hold the key \(row.sealKeyID) any more: set the credential again with `pushmta credential set \(application) --key FILE`."
        )
    }

    /// Checks and seals material for an application, which need not be there yet. To be called under the lock.
    ///
    /// - Parameter nextID: hands the credential's id out; nil for the database's own way, which asks for rights on its table.
    package func sealed(
        _ material: CredentialMaterial,
        application: String,
        environment: ApplicationEnvironment,
        bundleID: String,
        nextID: (@Sendable () async throws -> Int64)? = nil
    ) async throws -> CredentialRow {
        let now = try await store.databaseClock()
        try material.check(
            environment: environment,
            bundleID: bundleID,
            now: Date(timeIntervalSince1970: Double(now.microsecondsSince1970) / 1_000_000)
        )
        try material.requireAllowed(settings.nmac, try await store.accounts())
        let cipher = try CredentialKeyFile.keyring(settings).current
        let id = if let nextID { try await nextID() } else { try await store.nextCredentialID() }
        return CredentialRow(
            id: id,
            kind: material.kind,
            name: "\(application)-\(id)",
            sealKeyID: cipher.keyID,
            sealed: try cipher.seal(material.bytes, credentialID: id),
            attributes: material.attributes,
            fingerprint: material.fingerprint,
            expiresAt: material.expiresAt.map {
                DatabaseTime(microsecondsSince1970: Int64(clamping: $0.timeIntervalSince1970))
            }
        )
    }

    /// Checks and seals `material` and makes it the application's credential.
    ///
    /// - Parameter allowsBothEnvironments: whether it may serve applications of both environments.
    package func save(
        _ material: CredentialMaterial,
        application: String,
        allowsBothEnvironments: Bool = false
    ) async throws {
        try await locked {
            let row = try await store.application(named: application)
            let credential = try await sealed(
                material,
                application: application,
                environment: row.environment,
                bundleID: row.bundleID
            )
            try await store.saveCredential(
                credential,
                application: application,
                allowsBothEnvironments: allowsBothEnvironments
            )
            try confirm(credential, application: application)
        }
    }
}

extension AccountRow {
    /// Whether it has a file of certificate authorities of its own.
    fileprivate var namesAuthorities: Bool {
        guard case .object(let entries)? = try? JSONValue(parsing: options.utf8) else { return false }
        return entries.contains { $0.name == AccountOption.certificateAuthorityFile.rawValue }
    }
}

extension Int64 {
    /// Seconds since 1970 in microseconds.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int64(exactly: (seconds * 1_000_000).rounded()) ?? .max
    }
}
