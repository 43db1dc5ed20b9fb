import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A key for APNs' token authentication: the contents of a `.p8` file and the two ids that belong to it.
package struct APNsTokenKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key's id, ten letters and digits.
    package let keyID: String
    /// The team's id, ten letters and digits.
    package let teamID: String
    private let key: P256.Signing.PrivateKey

    /// Reads a key.
    ///
    /// - Parameter pem: the text of the `.p8` file, a private key on the curve P-256 (PKCS#8 or SEC 1), in any form
    ///   that OpenSSL reads.
    /// - Throws: `GatewayCredentialError` that names what is wrong, never the key's material.
    package init(keyID: String, teamID: String, pem: [UInt8]) throws(GatewayCredentialError) {
        guard Self.isIdentifier(keyID) else {
            throw GatewayCredentialError(
                .malformed,
                "APNs key id \"\(keyID.prefix(40))\" is not ten letters and digits: copy it from the key's page in Apple's developer account"
            )
        }
        guard Self.isIdentifier(teamID) else {
            throw GatewayCredentialError(
                .malformed,
                "APNs team id \"\(teamID.prefix(40))\" is not ten letters and digits: copy it from the membership page in Apple's developer account"
            )
        }
        let key: P256.Signing.PrivateKey
        switch Self.read(pem) {
        case .success(let found): key = found
        case .failure(let fault):
            throw GatewayCredentialError(
                .malformed,
                "APNs key \(keyID) cannot be used: \(fault.text). Give the .p8 file as Apple delivered it, a private key on P-256"
            )
        }
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }

    /// What is wrong with a file, without any of its contents.
    private struct Fault: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static func read(_ bytes: [UInt8]) -> Result<P256.Signing.PrivateKey, Fault> {
        if let fault = MaterialFault.text(bytes) { return .failure(Fault(fault)) }
        let file = PEMFile(bytes)
        if let fault = MaterialFault.key(file) { return .failure(Fault(fault)) }
        // OpenSSL puts a block with the curve before the key; the key names its curve too.
        let block = file.blocks.first(where: \.isPrivateKey)
        switch KeyForm(der: block?.der ?? []) {
        case .p256(let number):
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: number) else { break }
            return .success(key)
        case .otherCurve(let curve): return .failure(Fault("its key is on the curve \(curve)"))
        case .rsa: return .failure(Fault("it is an RSA key"))
        case .other(let kind): return .failure(Fault("its key is of another kind (\(kind))"))
        case .encrypted: return .failure(Fault("it is protected by a passphrase"))
        case .publicKey: return .failure(Fault("it is a public key; the private key is needed"))
        case .certificate, .pkcs12, .unknown: break
        }
        return .failure(Fault("the text between BEGIN and END is not a private key"))
    }

    /// The ids without the key's material.
    package var description: String { "APNs key \(keyID) of team \(teamID)" }

    /// Shows none of the material.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// A provider token with the given time of issue, in seconds since 1970.
    func providerToken(issuedAt seconds: Int64) throws -> String {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(seconds)}"#
        return try JSONWebToken.make(header: header, claims: claims) { input in
            // JWS wants r followed by s (RFC 7518 section 3.4), not DER.
            Array(try key.signature(for: input).rawRepresentation)
        }
    }

    /// Distinguishes keys: the same ids with different material are a different key.
    var identity: ProviderTokenIdentity {
        ProviderTokenIdentity(keyID: keyID, teamID: teamID, publicKey: Array(key.publicKey.rawRepresentation))
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }
}

/// JSON Web Tokens in compact form (RFC 7515).
enum JSONWebToken {
    /// Assembles a token; the closure signs `header.claims`.
    static func make(header: String, claims: String, sign: (Data) throws -> [UInt8]) rethrows -> String {
        let input = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        return input + "." + base64URL(try sign(Data(input.utf8)))
    }

    /// Base64 with the URL alphabet and without padding (RFC 7515 section 2).
    static func base64URL(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(buffer >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << UInt32(6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
