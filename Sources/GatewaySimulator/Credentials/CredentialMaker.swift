import Crypto
import CryptoExtras
import Foundation
import PushCore

/// Creates the sample credentials, or loads them from the state folder.
struct CredentialMaker {
    private struct APNsFile: Codable {
        var keyFile: String
        var keyID: String
        var teamID: String
        var topics: [String]

        enum CodingKeys: String, CodingKey {
            case keyFile = "key_file"
            case keyID = "key_id"
            case teamID = "team_id"
            case topics
        }
    }

    private struct ServiceAccountFile: Codable, Equatable {
        var type = "service_account"
        var projectID: String
        var privateKeyID: String
        var privateKey: String
        var clientEmail: String
        var tokenURI: String

        enum CodingKeys: String, CodingKey {
            case type
            case projectID = "project_id"
            case privateKeyID = "private_key_id"
            case privateKey = "private_key"
            case clientEmail = "client_email"
            case tokenURI = "token_uri"
        }
    }

    let folder: StateFolder
    let authority: CertificateAuthority
    let isSandbox: Bool
    let topics: [String]
    let projectID: String
    let tokenURI: String

    /// Returns the complete credentials, which are then on disk.
    func make() throws(SimulatorError) -> SimulatorCredentials {
        let apns = try apnsFile()
        let account = try serviceAccount()
        return SimulatorCredentials(
            apnsKeyFile: apns.file.keyFile,
            apnsKeyPEM: apns.pem,
            apnsKeyID: apns.file.keyID,
            apnsTeamID: apns.file.teamID,
            apnsTopics: topics,
            apnsCertificateFile: SampleCertificates.file(isSandbox ? .sandbox : .production, folder),
            apnsOtherCertificateFile: SampleCertificates.file(isSandbox ? .production : .sandbox, folder),
            apnsUniversalCertificateFile: SampleCertificates.file(.both, folder),
            apnsExpiredCertificateFile: SampleCertificates.file(.expired, folder),
            apnsCertificatePassphrase: try certificates.make(),
            serviceAccountFile: folder.file("service-account.json"),
            serviceAccountJSON: account.json,
            serviceAccountKeyPEM: account.file.privateKey,
            clientEmail: account.file.clientEmail,
            tokenURI: tokenURI,
            projectID: projectID,
            fcmProjectKeyFile: folder.file("fcm-project-key.txt"),
            fcmProjectKey: try projectKey()
        )
    }

    private var certificates: SampleCertificates {
        SampleCertificates(folder: folder, authority: authority, topics: topics)
    }

    private func apnsFile() throws(SimulatorError) -> (file: APNsFile, pem: String) {
        let path = folder.file("apns-key.p8")
        let old: APNsFile? = decode("apns.json")
        let pem: String
        if let text = folder.read("apns-key.p8") {
            pem = text
        } else {
            pem = P256.Signing.PrivateKey().pemRepresentation + "\n"
            try folder.write("apns-key.p8", pem, isSecret: true)
        }
        let file = APNsFile(
            keyFile: path,
            keyID: old?.keyID ?? Self.identifier(),
            teamID: old?.teamID ?? Self.identifier(),
            topics: topics
        )
        try folder.write("apns.json", try encode(file), isSecret: false)
        return (file, pem)
    }

    private func serviceAccount() throws(SimulatorError) -> (file: ServiceAccountFile, json: String) {
        var file: ServiceAccountFile
        if let old: ServiceAccountFile = decode("service-account.json") {
            file = old
        } else {
            guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else {
                throw SimulatorError(.credential, "cannot create an RSA key for the sample service account")
            }
            file = ServiceAccountFile(
                projectID: projectID,
                privateKeyID: Self.hexadecimal(40),
                privateKey: key.pkcs8PEMRepresentation + "\n",
                clientEmail: "",
                tokenURI: ""
            )
        }
        file.projectID = projectID
        file.clientEmail = "push@\(projectID).iam.gserviceaccount.com"
        file.tokenURI = tokenURI
        let json = try encode(file)
        if folder.read("service-account.json") != json {
            try folder.write("service-account.json", json, isSecret: true)
        }
        return (file, json)
    }

    /// A server key in the Firebase console's form: 152 characters.
    private func projectKey() throws(SimulatorError) -> String {
        if let text = folder.read("fcm-project-key.txt")?.split(whereSeparator: \.isWhitespace).first {
            return String(text)
        }
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let characters = (0..<147).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] }
        let key = "AAAA" + String(characters.prefix(7)) + ":" + String(characters.dropFirst(7))
        try folder.write("fcm-project-key.txt", key + "\n", isSecret: true)
        return key
    }

    private func decode<Value: Decodable>(_ name: String) -> Value? {
        folder.read(name).flatMap { try? JSONBody.decode(Value.self, from: $0.utf8) }
    }

    private func encode(_ value: some Encodable) throws(SimulatorError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            throw SimulatorError(.credential, "cannot encode a sample credential for \(folder.path) as JSON")
        }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// Ten characters like Apple's key and team ids.
    private static func identifier() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String((0..<10).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] })
    }

    private static func hexadecimal(_ count: Int) -> String {
        String((0..<count).map { _ in Array("0123456789abcdef")[Int.random(in: 0..<16)] })
    }
}
