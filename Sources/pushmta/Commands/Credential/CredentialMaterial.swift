import Crypto
import Foundation
import PushCore
import Store

/// A credential as its file holds it, checked.
struct CredentialMaterial: Sendable {
    /// What it is.
    let kind: CredentialRow.Kind
    /// The file's bytes.
    let bytes: [UInt8]
    /// What is not secret, as a JSON object.
    let attributes: String

    /// SHA-256 of the bytes in hexadecimal digits: what people compare.
    var fingerprint: String {
        SHA256.hash(data: bytes).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }

    /// Reads and checks a file: for iOS Apple's .p8 key with its key id and team id, for Android Google's service account.
    init(file: String, platform: Platform, keyID: String? = nil, teamID: String? = nil) throws {
        guard let data = FileManager.default.contents(atPath: file), !data.isEmpty else {
            throw CommandFailure(
                .data,
                "The credential file \(file) cannot be read or is empty: check its path and your rights."
            )
        }
        bytes = Array(data)
        switch platform {
        case .ios:
            kind = .apnsKey
            attributes = try Self.apnsAttributes(data, file, keyID, teamID)
        case .android:
            kind = .fcmServiceAccount
            attributes = try Self.fcmAttributes(data, file)
        }
    }

    private static func apnsAttributes(_ data: Data, _ file: String, _ keyID: String?, _ teamID: String?) throws
        -> String
    {
        guard (try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: data, as: UTF8.self))) != nil else {
            throw CommandFailure(
                .data,
                "\(file) is not an APNs key: give the .p8 file from Apple's developer site, which begins with BEGIN PRIVATE KEY."
            )
        }
        guard let keyID = keyID ?? nameKeyID(file), isAppleID(keyID) else {
            throw CommandFailure(
                .data,
                "The key's id is missing: give --key-id with the ten characters that Apple shows beside the key."
            )
        }
        guard let teamID, isAppleID(teamID) else {
            throw CommandFailure(
                .data,
                "The team's id is missing: give --team-id with the ten characters of your Apple developer team."
            )
        }
        return Cell.object([("key_id", .text(keyID)), ("team_id", .text(teamID))]).json
    }

    /// Apple names the file `AuthKey_KEYID.p8`.
    private static func nameKeyID(_ file: String) -> String? {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst(8).dropLast(3))
    }

    private static func isAppleID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    private struct ServiceAccount: Decodable {
        let projectID: String
        let privateKey: String
        let clientEmail: String

        enum CodingKeys: String, CodingKey {
            case projectID = "project_id"
            case privateKey = "private_key"
            case clientEmail = "client_email"
        }
    }

    private static func fcmAttributes(_ data: Data, _ file: String) throws -> String {
        guard let account = try? JSONDecoder().decode(ServiceAccount.self, from: data),
            account.privateKey.contains("PRIVATE KEY"), !account.projectID.isEmpty, !account.clientEmail.isEmpty
        else {
            throw CommandFailure(
                .data,
                "\(file) is not a service account: give the JSON file from the Google Cloud console with project_id, private_key and client_email."
            )
        }
        return Cell.object([("project_id", .text(account.projectID))]).json
    }
}
