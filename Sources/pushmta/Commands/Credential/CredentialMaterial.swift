import Crypto
import Foundation
import Gateways
import PushCore
import Store

/// A credential as its file holds it, checked.
struct CredentialMaterial: Sendable {
    /// What it is.
    let kind: CredentialRow.Kind
    /// What is sealed: the file's bytes, with the passphrase where there is one.
    let bytes: [UInt8]
    /// What is not secret, as a JSON object.
    let attributes: String
    /// What people compare: SHA-256 of the certificate, or of the file, in hexadecimal digits.
    let fingerprint: String
    /// The certificate, if it is one.
    let certificate: ClientCertificate?
    /// Until when it is good; nil when it does not say.
    var expiresAt: Date?

    /// Reads and checks a file: for iOS Apple's .p8 key with its key id and team id, or a certificate (.p12) with its
    /// passphrase; for Android Google's service account, or a project key.
    ///
    /// - Parameter passphrase: asked for only if the file is a certificate.
    init(
        file: String,
        platform: Platform,
        keyID: String? = nil,
        teamID: String? = nil,
        passphrase: () throws -> String = { "" }
    ) throws {
        let contents = Array(
            try SmallFile.contents(file, "credential file", "give \(CredentialForm.wanted(platform))")
        )
        let form = CredentialForm(contents)
        guard form.platform == platform else {
            throw CommandFailure(
                .data,
                "\(file) is \(form.text); an application of platform \(platform.rawValue) takes \(CredentialForm.wanted(platform))."
            )
        }
        do {
            switch form {
            case .certificate: try self.init(pkcs12: contents, passphrase: try passphrase())
            case .projectKey: try self.init(projectKey: contents)
            case .serviceAccount: try self.init(serviceAccount: contents)
            case .apnsKey, .bareCertificate, .unknown:
                try self.init(apnsKey: contents, file: file, keyID: keyID, teamID: teamID)
            }
        } catch let error as GatewayCredentialError {
            throw CommandFailure(.data, "\(file): \(error)")
        }
    }

    private init(_ kind: CredentialRow.Kind, _ bytes: [UInt8], _ attributes: [(String, Cell)]) {
        self.kind = kind
        self.bytes = bytes
        self.attributes = Cell.object(attributes).json
        fingerprint = Self.hexadecimal(SHA256.hash(data: bytes))
        certificate = nil
    }

    private init(pkcs12: [UInt8], passphrase: String) throws(GatewayCredentialError) {
        let certificate = try ClientCertificate(pkcs12: pkcs12, passphrase: passphrase)
        kind = .apnsCertificate
        bytes = SealedCertificate(pkcs12: pkcs12, passphrase: passphrase).material
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
        let account = try ServiceAccount(json: json)
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

    private init(apnsKey pem: [UInt8], file: String, keyID: String?, teamID: String?) throws {
        guard let keyID = keyID ?? Self.nameKeyID(file), !keyID.isEmpty else {
            throw CommandFailure(
                .data,
                "The key's id is missing: give --key-id with the ten characters that Apple shows beside the key."
            )
        }
        guard let teamID, !teamID.isEmpty else {
            throw CommandFailure(
                .data,
                "The team's id is missing: give --team-id with the ten characters of your Apple developer team."
            )
        }
        _ = try APNsTokenKey(keyID: keyID, teamID: teamID, pem: pem)
        try Self.requireCapitals(keyID, "The key's id", "--key-id")
        try Self.requireCapitals(teamID, "The team's id", "--team-id")
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
