import Crypto
import CryptoExtras
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A Google service account: the sender for FCM HTTP v1, and the source of its access tokens.
package struct ServiceAccount: Sendable, CustomStringConvertible, CustomReflectable {
    /// The Firebase project's id.
    package let projectID: String
    /// The account's address, the issuer of its grants.
    package let clientEmail: String
    /// The token endpoint, an `https` address.
    package let tokenURI: String
    /// The key's id. Google finds the key without it.
    private let privateKeyID: String?
    private let privateKey: _RSA.Signing.PrivateKey

    /// The token endpoint if the file names none.
    private static let usualTokenURI = "https://oauth2.googleapis.com/token"
    /// Google's token endpoints, including those that older files name.
    static let googlesTokenURIs = [
        usualTokenURI, "https://accounts.google.com/o/oauth2/token", "https://www.googleapis.com/oauth2/v4/token",
    ]
    /// Google accepts grants that live for at most an hour.
    private static let grantLifetimeSeconds: Int64 = 3_600

    /// Reads the JSON file that the Firebase console delivers.
    ///
    /// - Throws: `GatewayCredentialError` that names the missing or wrong field, never a value of the private key.
    package init(json: [UInt8]) throws(GatewayCredentialError) {
        let file = try GoogleFile.fields(json)
        let type = try GoogleFile.require(file.type, "type")
        guard type == "service_account" else { throw GoogleFile.wrongType(type) }
        try self.init(file)
    }

    init(_ file: GoogleFile) throws(GatewayCredentialError) {
        projectID = try GoogleFile.checkedProject(try GoogleFile.require(file.projectID, "project_id"))
        clientEmail = try GoogleFile.checkedText(
            try GoogleFile.require(file.clientEmail, "client_email"),
            "client_email"
        )
        var keyID: String?
        if let id = file.privateKeyID, !id.isEmpty { keyID = try GoogleFile.checkedText(id, "private_key_id") }
        privateKeyID = keyID
        tokenURI = try Self.checkedAddress(file.tokenURI ?? "")
        privateKey = try Self.key(try GoogleFile.require(file.privateKey, "private_key"))
    }

    private static func key(_ text: String) throws(GatewayCredentialError) -> _RSA.Signing.PrivateKey {
        let bytes = Array(text.utf8)
        let file = PEMFile(bytes)
        if let fault = MaterialFault.text(bytes) ?? MaterialFault.key(file) {
            throw GoogleFile.error(.malformed, "its field private_key: \(fault)")
        }
        let der = file.blocks.first(where: \.isPrivateKey)?.der ?? []
        switch KeyForm(der: der) {
        case .rsa(let der):
            if let key = try? _RSA.Signing.PrivateKey(derRepresentation: der) { return key }
        case .p256, .otherCurve:
            throw GoogleFile.error(
                .malformed,
                "its field private_key is an elliptic curve key; Google's are RSA keys"
            )
        default: break
        }
        throw GoogleFile.error(
            .malformed,
            "its field private_key is not an RSA private key of at least 2,048 bits in PEM form: give the file as the Firebase console delivered it"
        )
    }

    /// The account's address without its material.
    package var description: String { "service account \(clientEmail) of project \(projectID)" }

    /// Shows none of the material.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// A grant that the token endpoint exchanges for an access token (RFC 7523), made at the given time in seconds since
    /// 1970.
    func grant(issuedAt seconds: Int64, scope: String = GoogleScope.messaging) throws -> String {
        let keyID = privateKeyID.map { #","kid":"\#($0)""# } ?? ""
        let header = #"{"alg":"RS256","typ":"JWT"\#(keyID)}"#
        let claims =
            #"{"iss":"\#(clientEmail)","scope":"\#(scope)","aud":"\#(tokenURI)","#
            + #""iat":\#(seconds),"exp":\#(seconds + Self.grantLifetimeSeconds)}"#
        return try JSONWebToken.make(header: header, claims: claims) { input in
            Array(
                try privateKey.signature(for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5).rawRepresentation
            )
        }
    }

    private static func checkedAddress(_ value: String) throws(GatewayCredentialError) -> String {
        guard !value.isEmpty else { return usualTokenURI }
        let address = try GoogleFile.checkedText(value, "token_uri")
        guard address.hasPrefix("https://"), address.count > "https://".count else {
            throw GoogleFile.error(
                .malformed,
                "its field token_uri is not an https address: Google's is \(usualTokenURI)"
            )
        }
        return address
    }
}

/// The scopes of access tokens.
enum GoogleScope {
    /// The scope for sending.
    static let messaging = "https://www.googleapis.com/auth/firebase.messaging"
    /// The scope for impersonating another account.
    static let cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
}
