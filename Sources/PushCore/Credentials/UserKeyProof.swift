import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the tokens of a proof key are signed (RFC 7518, section 3).
package enum UserKeyProofAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC with SHA-256 and a shared secret.
    case hs256 = "HS256"
    /// ECDSA over P-256 with SHA-256; only the backend has the private key.
    case es256 = "ES256"
}

/// A key that verifies the tokens of a service's backend.
package struct UserKeyProofKey: Sendable {
    private enum Material {
        case secret(SymmetricKey)
        case publicKey(P256.Signing.PublicKey)
    }

    /// The minimum length of a secret in bytes, which is the length of the hash (RFC 7518, section 3.2).
    package static let minSecretLength = 32

    /// Its id, `kid` in tokens.
    package let id: String
    private let material: Material

    /// Makes a key from its stored bytes: a secret, or the 65 bytes of a public key's point. Nil if they are not a
    /// valid key.
    package init?(id: String, algorithm: UserKeyProofAlgorithm, bytes: [UInt8]) {
        self.id = id
        switch algorithm {
        case .hs256:
            guard bytes.count >= Self.minSecretLength else { return nil }
            material = .secret(SymmetricKey(data: bytes))
        case .es256:
            guard let key = try? P256.Signing.PublicKey(x963Representation: bytes) else { return nil }
            material = .publicKey(key)
        }
    }

    /// The 65 bytes of a public key's point, from its PEM text; nil if it is not a P-256 public key.
    package static func publicKey(pem: String) -> [UInt8]? {
        (try? P256.Signing.PublicKey(pemRepresentation: pem)).map { Array($0.x963Representation) }
    }

    /// The algorithm of its signatures. A token that names another algorithm is refused, so that a public key is never
    /// used as a secret.
    package var algorithm: UserKeyProofAlgorithm {
        switch material {
        case .secret: .hs256
        case .publicKey: .es256
        }
    }

    fileprivate func isValid(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        switch material {
        case .secret(let key):
            return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: text, using: key)
        case .publicKey(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: text)
        }
    }
}

/// A proof of a user key: a JSON Web Token (RFC 7519) that the customer's backend has signed for the logged-in user.
///
/// The header has `alg` (HS256 or ES256) and `kid`. The claims have `sub`, the user key, and `exp`; `nbf` is checked
/// and other claims are ignored. The app passes the token as the additional parameter ``parameter``, which every SDK
/// can send. It is never stored.
package struct UserKeyProof: Sendable {
    /// The additional parameter that carries it.
    package static let parameter = "userKeyProof"
    /// The maximum length of a token, in bytes; a typical one has about 300.
    package static let longest = 8_192
    /// The tolerated difference from the backend's clock, in seconds.
    package static let clockDifference = 60.0
    /// The maximum lifetime of a token, in seconds: 30 days.
    ///
    /// A stolen token lets its holder register as the user until it expires, and the app needs it only until its
    /// registration is linked.
    package static let maxLife = 30 * 86_400.0

    /// Why a token proves nothing, in words that complete a sentence about it.
    package enum Refusal: String, Error, Sendable, Hashable, CaseIterable {
        case missing = "there is none"
        case malformed = "it is not a JSON Web Token with alg HS256 or ES256, kid, sub and exp"
        case unknownKey = "its kid matches none of the service's keys"
        case signature = "its signature does not match the key"
        case expired = "its exp has passed"
        case early = "its nbf is in the future"
        case endless = "its exp is more than 30 days in the future"
        case otherUser = "its sub is not the user of the registration"
    }

    /// The id of the key that verifies it.
    package let keyID: String
    private let algorithm: UserKeyProofAlgorithm
    private let signed: [UInt8]
    private let signature: [UInt8]
    private let subject: String
    private let expires: Double
    private let begins: Double?

    /// Parses a token. Trust none of its values before ``userKey(_:now:)`` has verified it.
    package init(_ token: String) throws(Refusal) {
        let bytes = Array(token.utf8)
        guard bytes.count <= Self.longest else { throw .malformed }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Self.decoded(parts[2]),
            // No critical extension is supported, so such a token must be refused (RFC 7515, section 4.1.11).
            head["crit"] == nil,
            case .string(let name)? = head["alg"], let algorithm = UserKeyProofAlgorithm(rawValue: name),
            case .string(let keyID)? = head["kid"],
            case .string(let subject)? = claims["sub"], !subject.isEmpty,
            subject.utf8.count <= DeviceRegistration.maxKeyLength, !subject.utf8.contains(0),
            let expires = Self.time(claims["exp"])
        else { throw .malformed }
        if let early = claims["nbf"] {
            guard let time = Self.time(early) else { throw .malformed }
            begins = time
        } else {
            begins = nil
        }
        self.keyID = keyID
        self.algorithm = algorithm
        self.signature = signature
        self.subject = subject
        self.expires = expires
        signed = Array(bytes.prefix(parts[0].count + 1 + parts[1].count))
    }

    /// Verifies the token and returns the user key that it proves.
    ///
    /// - Parameter now: seconds of Unix time.
    package func userKey(_ key: UserKeyProofKey, now: Double) throws(Refusal) -> String {
        guard key.id == keyID else { throw .unknownKey }
        guard key.algorithm == algorithm, key.isValid(signature, of: signed) else { throw .signature }
        guard now < expires + Self.clockDifference else { throw .expired }
        guard expires <= now + Self.maxLife + Self.clockDifference else { throw .endless }
        if let begins, now < begins - Self.clockDifference { throw .early }
        return subject
    }

    /// The members of a part that is a JSON object; nil if a name occurs twice, as it is unclear which value counts.
    private static func object(_ part: ArraySlice<UInt8>) -> [String: JSONValue]? {
        guard let bytes = decoded(part), let json = try? JSONValue(parsing: bytes, refusesHalfPairs: true),
            case .object(let entries) = json
        else { return nil }
        let members = Dictionary(entries.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return members.count == entries.count ? members : nil
    }

    private static func time(_ value: JSONValue?) -> Double? {
        guard case .number(let digits)? = value, let seconds = Double(digits), seconds.isFinite else { return nil }
        return seconds
    }

    /// Base64 for URLs, without padding (RFC 7515, section 2).
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var plain = text.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            // Characters of the standard alphabet, and padding, are not valid here.
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): UInt8(ascii: "!")
            default: byte
            }
        }
        plain += [UInt8](repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: Data(plain)).map { Array($0) }
    }
}
