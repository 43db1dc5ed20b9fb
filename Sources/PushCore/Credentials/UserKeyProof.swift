import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Who says which user a device belongs to; a setting of a service.
public enum UserKeyTrust: String, Sendable, Hashable, CaseIterable {
    /// The device: whoever has the app's integration key can register as anybody.
    case open
    /// The device, with a token that the customer's backend has signed for its user, see ``UserKeyProof``.
    case signed
    /// Nobody but the API and imports: what devices say of their user is not looked at.
    case server
}

/// What a registration's user key is worth.
public enum UserKeyClaim: String, Sendable, Hashable {
    /// The service takes the device's word.
    case open
    /// Somebody whom the service trusts has said it.
    case proven
    /// The service asks for a proof, and there is none: the key counts only where it is that of the token's subscription already.
    case unproven
    /// The service asks no device: the subscription of the token keeps the key that it has.
    case server
    /// The registration has no key: the token's subscription keeps the one that it has, or had when it was disabled.
    case kept
}

/// How the tokens of a proof key are signed (RFC 7518, section 3).
public enum UserKeyProofAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC with SHA-256 and a secret that both sides have.
    case hs256 = "HS256"
    /// ECDSA over P-256 with SHA-256; only the backend has the private key.
    case es256 = "ES256"
}

/// A key with which the tokens of a service's backend are checked.
public struct UserKeyProofKey: Sendable {
    private enum Material {
        case secret(SymmetricKey)
        case publicKey(P256.Signing.PublicKey)
    }

    /// The shortest secret: a key as long as the hash (RFC 7518, section 3.2).
    public static let shortestSecret = 32

    /// Its id, `kid` in tokens.
    public let id: String
    private let material: Material

    /// A key from what is kept of it: a secret, or the 65 bytes of a public key's point; nil if it is none.
    public init?(id: String, algorithm: UserKeyProofAlgorithm, bytes: [UInt8]) {
        self.id = id
        switch algorithm {
        case .hs256:
            guard bytes.count >= Self.shortestSecret else { return nil }
            material = .secret(SymmetricKey(data: bytes))
        case .es256:
            guard let key = try? P256.Signing.PublicKey(x963Representation: bytes) else { return nil }
            material = .publicKey(key)
        }
    }

    /// The 65 bytes of a public key's point, from its PEM text; nil if it is no public key of P-256.
    public static func publicKey(pem: String) -> [UInt8]? {
        (try? P256.Signing.PublicKey(pemRepresentation: pem)).map { Array($0.x963Representation) }
    }

    /// What it signs with: a token that names another one is refused, so that no public key is ever taken for a secret.
    public var algorithm: UserKeyProofAlgorithm {
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

/// A proof of a user key: a JSON Web Token (RFC 7519) that the customer's backend has signed for the user who is logged in.
///
/// Its header has `alg` (HS256 or ES256) and `kid`, its claims have `sub`, the user key, and `exp`; `nbf` is obeyed, others are not looked
/// at. An app passes it as the additional parameter ``parameter``, which every SDK can carry. It is never stored.
public struct UserKeyProof: Sendable {
    /// The additional parameter that carries it.
    public static let parameter = "userKeyProof"
    /// The longest token that is looked at, in bytes; one of ours has some 300.
    public static let longest = 8_192
    /// How far the backend's clock may differ, in seconds.
    public static let clockDifference = 60.0
    /// How far ahead a token may end, in seconds: 30 days. Whoever gets hold of one can register as its user until then, and the app needs
    /// it only until its registration is linked.
    public static let longestLife = 30 * 86_400.0

    /// Why a token proves nothing, in words that end a sentence about it.
    public enum Refusal: String, Error, Sendable, Hashable, CaseIterable {
        case missing = "there is none"
        case malformed = "it is no JSON Web Token with alg HS256 or ES256, kid, sub and exp"
        case unknownKey = "its kid is none of the service's keys"
        case signature = "its signature is not that of the key"
        case expired = "its exp is over"
        case early = "its nbf is to come"
        case endless = "its exp is more than 30 days ahead"
        case otherUser = "its sub is another user than the registration's"
    }

    /// The id of the key that is to check it.
    public let keyID: String
    private let algorithm: UserKeyProofAlgorithm
    private let signed: [UInt8]
    private let signature: [UInt8]
    private let subject: String
    private let expires: Double
    private let begins: Double?

    /// Reads a token; nothing of it is true before it was checked.
    public init(_ token: String) throws(Refusal) {
        let bytes = Array(token.utf8)
        guard bytes.count <= Self.longest else { throw .malformed }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Self.decoded(parts[2]),
            // An extension that must be understood is not (RFC 7515, section 4.1.11).
            head["crit"] == nil,
            case .string(let name)? = head["alg"], let algorithm = UserKeyProofAlgorithm(rawValue: name),
            case .string(let keyID)? = head["kid"],
            case .string(let subject)? = claims["sub"], !subject.isEmpty,
            subject.utf8.count <= DeviceRegistration.longestKey, !subject.utf8.contains(0),
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

    /// The user key that it proves.
    ///
    /// - Parameter now: seconds of Unix time.
    public func userKey(_ key: UserKeyProofKey, now: Double) throws(Refusal) -> String {
        guard key.id == keyID else { throw .unknownKey }
        guard key.algorithm == algorithm, key.isValid(signature, of: signed) else { throw .signature }
        guard now < expires + Self.clockDifference else { throw .expired }
        guard expires <= now + Self.longestLife + Self.clockDifference else { throw .endless }
        if let begins, now < begins - Self.clockDifference { throw .early }
        return subject
    }

    /// The members of a part that is a JSON object; of a name that comes twice nobody can say which one counts.
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
            // Those of the other alphabet, and padding, are none here.
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): UInt8(ascii: "!")
            default: byte
            }
        }
        plain += [UInt8](repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: Data(plain)).map { Array($0) }
    }
}
