import Crypto
import CryptoExtras
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A Google service account: who sends through FCM HTTP v1, and where its access tokens come from.
public struct ServiceAccount: Sendable, CustomStringConvertible, CustomReflectable {
    /// The Firebase project's id.
    public let projectID: String
    /// The account's address, the issuer of its grants.
    public let clientEmail: String
    /// The token endpoint, an `https` address.
    public let tokenURI: String
    private let privateKeyID: String
    private let privateKey: _RSA.Signing.PrivateKey

    /// The right that sending needs.
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// Google takes grants that live for at most an hour.
    private static let grantLifetimeSeconds: Int64 = 3_600

    /// Reads the JSON file that the Firebase console delivers.
    ///
    /// - Throws: `GatewayCredentialError` that names the field which is missing or wrong, never a value of the private key.
    public init(json: [UInt8]) throws(GatewayCredentialError) {
        guard let file = try? JSONBody.decode(ServiceAccountFile.self, from: json) else {
            throw Self.error(
                .malformed,
                "it is not a JSON object with text fields: give the file as the Firebase console delivered it"
            )
        }
        let type = try Self.require(file.type, "type")
        guard type == "service_account" else {
            // Google's kinds are such words ("authorized_user"); what looks otherwise may be a key in the wrong place.
            let isWord = type.utf8.count <= 40 && type.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
            throw Self.error(
                .wrongKind,
                "its field type is \(isWord ? type : "something else") instead of service_account: make a key of a service account in the Firebase console (project settings, service accounts)"
            )
        }
        projectID = try Self.checkedProject(try Self.require(file.projectID, "project_id"))
        clientEmail = try Self.checkedText(try Self.require(file.clientEmail, "client_email"), "client_email")
        privateKeyID = try Self.checkedText(try Self.require(file.privateKeyID, "private_key_id"), "private_key_id")
        tokenURI = try Self.checkedAddress(try Self.require(file.tokenURI, "token_uri"))
        let pem = try Self.require(file.privateKey, "private_key")
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) else {
            throw Self.error(
                .malformed,
                "its field private_key is no RSA private key of at least 2,048 bits in PEM form: give the file as the Firebase console delivered it"
            )
        }
        privateKey = key
    }

    /// The account's address without its material.
    public var description: String { "service account \(clientEmail) of project \(projectID)" }

    /// Nothing of the material.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A grant that the token endpoint exchanges for an access token (RFC 7523), made at the given time in seconds since
    /// 1970.
    func grant(issuedAt seconds: Int64) throws -> String {
        let header = #"{"alg":"RS256","typ":"JWT","kid":"\#(privateKeyID)"}"#
        let claims =
            #"{"iss":"\#(clientEmail)","scope":"\#(Self.scope)","aud":"\#(tokenURI)","#
            + #""iat":\#(seconds),"exp":\#(seconds + Self.grantLifetimeSeconds)}"#
        return try JSONWebToken.make(header: header, claims: claims) { input in
            Array(
                try privateKey.signature(for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5).rawRepresentation
            )
        }
    }

    private static func require(_ value: String?, _ field: String) throws(GatewayCredentialError) -> String {
        guard let value, !value.isEmpty else {
            throw error(
                .missing,
                "its field \(field) is missing or empty: give the file as the Firebase console delivered it"
            )
        }
        return value
    }

    /// Refuses what would break out of the JSON text that it is put into.
    private static func checkedText(_ value: String, _ field: String) throws(GatewayCredentialError) -> String {
        guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else {
            throw error(.malformed, "its field \(field) contains characters that such a field never has")
        }
        return value
    }

    /// Project ids and numbers go into a path: letters, digits, hyphens, and for old ones a dot and a colon.
    private static func checkedProject(_ value: String) throws(GatewayCredentialError) -> String {
        let isAllowed: (Character) -> Bool = { $0.isASCII && ($0.isLetter || $0.isNumber || "-.:_".contains($0)) }
        guard value.allSatisfy(isAllowed) else {
            throw error(.malformed, "its field project_id contains characters that no project id has")
        }
        return value
    }

    private static func checkedAddress(_ value: String) throws(GatewayCredentialError) -> String {
        let address = try checkedText(value, "token_uri")
        guard address.hasPrefix("https://"), address.count > "https://".count else {
            throw error(
                .malformed,
                "its field token_uri is no https address: Google's is https://oauth2.googleapis.com/token"
            )
        }
        return address
    }

    private static func error(_ code: GatewayCredentialError.Code, _ what: String) -> GatewayCredentialError {
        GatewayCredentialError(code, "the service account file cannot be used: \(what)")
    }
}

/// The fields of a service account's JSON file that matter here.
struct ServiceAccountFile: Decodable {
    var type: String?
    var projectID: String?
    var privateKeyID: String?
    var privateKey: String?
    var clientEmail: String?
    var tokenURI: String?

    enum CodingKeys: String, CodingKey {
        case type
        case projectID = "project_id"
        case privateKeyID = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case tokenURI = "token_uri"
    }
}
