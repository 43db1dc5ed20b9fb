import Crypto
import Foundation
import Gateways
import PushCore
import Store

/// A checked credential, as read from its file.
package struct CredentialMaterial: Sendable {
    package let kind: CredentialKind
    /// What is sealed: the bytes of the file, with the passphrase if there is one.
    package let bytes: [UInt8]
    /// The attributes that are not secret, as a JSON object.
    package let attributes: String
    /// What people compare: the SHA-256 of the certificate or of the file, in hexadecimal.
    package let fingerprint: String
    /// The certificate; nil for other kinds of credential.
    package let certificate: ClientCertificate?
    /// When it expires; nil if it does not say.
    package var expiresAt: Date?

    /// Reads and checks a file. For iOS: Apple's .p8 key with its key id and team id, or a certificate (.p12) with
    /// its passphrase. For Android: Google's service account, or a project key.
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

    /// Checks the contents of a file, whatever their source.
    ///
    /// - Parameter naming: how errors name the things that were given.
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
            // A PEM key has no passphrase here.
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

    /// What the file is, if it is in none of the platform's forms, or has a length that no project key has.
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
                "The key's id is missing: give \(naming.keyID) with the ten characters that Apple shows next to the key."
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

    /// Apple's ids have capital letters only. APNs refuses every message with any other id (InvalidProviderToken).
    private static func requireCapitals(_ id: String, _ what: String, _ option: String) throws {
        guard id.utf8.contains(where: { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else { return }
        throw CommandFailure(
            .data,
            "\(what) has lower-case letters, but Apple's ids have ten capital letters and digits: give \(option) \(id.uppercased()) if that is what Apple shows."
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
    /// Checks what can be known before the gateway is asked: that it has not expired, and that it matches the
    /// application's environment and bundle id.
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
        guard expiresAt <= now + Self.maxLife else {
            throw CommandFailure(
                .data,
                "--expires is more than ten years away: check the year, or leave the option out for a credential that does not end."
            )
        }
    }

    /// Checks that this host lets a credential read the files and call the addresses that it names. The right to
    /// upload a credential does not include that.
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

    /// Ten years of 365 days and three leap days. No one plans the expiry of a key for later, while a mistyped year
    /// is off by centuries.
    private static let maxLife: TimeInterval = (10 * 365 + 3) * 86_400

    /// Checks that a certificate may serve both environments, when the caller claims that it does.
    package func requireBothEnvironments(_ naming: CredentialNaming = .file("")) throws {
        guard certificate?.namesBothEnvironments == true else {
            throw CommandFailure(
                .data,
                "\(naming.bothEnvironments) is for certificates that Apple issued for sandbox and production, and this one does not say so: set a certificate for each environment."
            )
        }
    }
}

/// How errors name what was given with a credential: options of a command, or fields of a form.
package struct CredentialNaming: Sendable {
    /// What holds the credential.
    package let file: String
    /// What gives the key's id.
    package let keyID: String
    /// What gives the team's id.
    package let teamID: String
    /// What declares that a certificate serves both environments.
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

/// The form of a credential file.
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
        // A SEQUENCE in DER or BER.
        if bytes.first == 0x30, bytes.count > 1, bytes[1] >= 0x80 || Int(bytes[1]) == bytes.count - 2 {
            self = .certificate
            return
        }
        var text = Substring(String(decoding: bytes.prefix(65_536), as: UTF8.self))
        // Windows editors put a byte order mark before it.
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

    /// A description for people.
    package var text: String {
        switch self {
        case .apnsKey: "an APNs key"
        case .certificate: "a certificate (PKCS#12)"
        case .serviceAccount: "a JSON file, such as a service account"
        case .projectKey: "a single word, such as a project key of FCM"
        case .pemCertificate: "a certificate with its key in PEM"
        case .bareCertificate: "a certificate in PEM without its private key"
        case .unknown: "of no form that a credential has"
        }
    }

    /// The platform that accepts it; nil for none.
    package var platform: Platform? {
        switch self {
        case .apnsKey, .certificate, .pemCertificate: .ios
        case .serviceAccount, .projectKey: .android
        case .bareCertificate, .unknown: nil
        }
    }

    /// What a platform accepts, for people.
    package static func wanted(_ platform: Platform) -> String {
        switch platform {
        case .ios: "Apple's key (.p8) or a certificate with its private key (.p12, or both in PEM)"
        case .android: "Google's service account (JSON file) or a file with FCM's project key"
        }
    }
}

extension AccountRow {
    /// Whether the account names its own file of certificate authorities.
    fileprivate var namesAuthorities: Bool {
        guard case .object(let entries)? = try? JSONValue(parsing: options.utf8) else { return false }
        return entries.contains { $0.name == AccountOption.certificateAuthorityFile.rawValue }
    }
}
