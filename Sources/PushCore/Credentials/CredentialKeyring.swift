import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys of a key file: the first one seals, all of them open.
///
/// A file has one key for most of its life, and two while credentials are sealed anew under another key.
public struct CredentialKeyring: Sendable {
    /// What new credentials are sealed with.
    public let current: CredentialCipher
    /// The keys that were in use before, newest first.
    public let earlier: [CredentialCipher]

    /// Reads a key file: a key a line, 64 hexadecimal digits each; what follows a `#` is a comment. One key alone may be spread
    /// over several lines.
    public init(text: String) throws(CredentialError) {
        var ciphers: [CredentialCipher] = []
        for key in Self.keys(in: text) { ciphers.append(try CredentialCipher(keyText: key)) }
        guard let first = ciphers.first else { throw CredentialError(code: .badKey, credentialID: nil) }
        current = first
        earlier = Array(ciphers.dropFirst())
    }

    /// All keys' ids, that of the current one first.
    public var keyIDs: [String] { [current.keyID] + earlier.map(\.keyID) }

    /// Opens a sealed credential with the key that sealed it.
    public func open(_ sealed: [UInt8], keyID: String, credentialID: Int64) throws(CredentialError) -> [UInt8] {
        guard let cipher = ([current] + earlier).first(where: { $0.keyID == keyID }) else {
            throw CredentialError(code: .otherKey(keyID), credentialID: credentialID)
        }
        return try cipher.open(sealed, credentialID: credentialID)
    }

    /// The text of a key file with another key before those that it has.
    public static func text(adding key: String, to text: String) -> String {
        ([key] + keys(in: text)).map { $0 + "\n" }.joined()
    }

    /// The text of a key file with those keys of another one behind its own that it lacks.
    public static func text(completing text: String, from other: String) -> String {
        let own = keys(in: text)
        return (own + keys(in: other).filter { !own.contains($0) }).map { $0 + "\n" }.joined()
    }

    /// The text of a key file without the keys that were in use before.
    public static func textOfCurrentKey(in text: String) -> String {
        keys(in: text).prefix(1).map { $0 + "\n" }.joined()
    }

    /// The keys of a file as texts without spaces.
    private static func keys(in text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline)
            .map { $0.prefix { $0 != "#" }.filter { !$0.isWhitespace } }
            .filter { !$0.isEmpty }
        let whole = CredentialCipher.keyLength * 2
        // Lines that are no keys alone may be one together.
        return lines.contains { $0.utf8.count != whole } ? [lines.joined()] : lines
    }
}

/// Seals credentials (keys, certificates, service accounts) for the database: AES-256-GCM under a key that is not in
/// it.
///
/// A sealed credential is a format byte, the nonce, the ciphertext and the tag. The credential's id is authenticated
/// with it, so that nobody who can write to the database can put one credential in the place of another.
public struct CredentialCipher: Sendable {
    /// The bytes of a master key.
    public static let keyLength = 32
    private static let format: UInt8 = 1

    /// The first 8 hexadecimal digits of the key's SHA-256, stored with each credential for rotation.
    public let keyID: String
    private let key: SymmetricKey

    /// Makes a cipher; throws when the key does not have 32 bytes.
    public init(key: [UInt8]) throws(CredentialError) {
        guard key.count == Self.keyLength else { throw CredentialError(code: .badKey, credentialID: nil) }
        self.key = SymmetricKey(data: key)
        keyID = HexDigit.text(SHA256.hash(data: key).prefix(4))
    }

    /// Makes a cipher from the text of a key file: 64 hexadecimal digits, space around them is ignored.
    public init(keyText: String) throws(CredentialError) {
        let digits = keyText.split(whereSeparator: \.isWhitespace).joined().utf8.map(HexDigit.value)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count - digits.count % 2, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { break }
            bytes.append(high << 4 | low)
        }
        guard digits.count == Self.keyLength * 2 else { throw CredentialError(code: .badKey, credentialID: nil) }
        try self.init(key: bytes)
    }

    /// The text of a new random key, as a key file holds it.
    public static func newKeyText() -> String {
        // The system's generator is cryptographically secure on every platform.
        HexDigit.text((0..<keyLength).map { _ in UInt8.random(in: .min ... .max) })
    }

    public func seal(_ material: [UInt8], credentialID: Int64) throws(CredentialError) -> [UInt8] {
        let context = Self.context(credentialID)
        guard let box = try? AES.GCM.seal(material, using: key, authenticating: context), let combined = box.combined
        else {
            throw CredentialError(code: .notAuthentic, credentialID: credentialID)
        }
        return [Self.format] + combined
    }

    public func open(_ sealed: [UInt8], credentialID: Int64) throws(CredentialError) -> [UInt8] {
        guard let format = sealed.first else { throw CredentialError(code: .tooShort, credentialID: credentialID) }
        guard format == Self.format else {
            throw CredentialError(code: .unknownFormat(format), credentialID: credentialID)
        }
        guard let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst()) else {
            throw CredentialError(code: .tooShort, credentialID: credentialID)
        }
        guard let material = try? AES.GCM.open(box, using: key, authenticating: Self.context(credentialID)) else {
            throw CredentialError(code: .notAuthentic, credentialID: credentialID)
        }
        return Array(material)
    }

    private static func context(_ credentialID: Int64) -> [UInt8] {
        Array("credential/\(credentialID)/material".utf8)
    }
}

/// Why a credential cannot be sealed or opened. It never contains the key or the credential.
public struct CredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The master key does not have 32 bytes, or its text is not 64 hexadecimal digits.
        case badKey
        /// The sealed credential is too short to be one.
        case tooShort
        /// The sealed credential has an unknown format; its number.
        case unknownFormat(UInt8)
        /// The key is another one, the bytes were changed, or they belong to another credential.
        case notAuthentic
        /// It was sealed with a key that the key file does not have; that key's id.
        case otherKey(String)
    }

    public let code: Code
    /// The credential's id; nil when the error concerns the key alone.
    public let credentialID: Int64?

    /// What is wrong with which credential, and what to do.
    public var description: String {
        let credential = credentialID.map { "Credential \($0)" } ?? "The credential"
        switch code {
        case .badKey:
            return
                "The master key for credentials must be 32 bytes, written as 64 hexadecimal digits; check the key file."
        case .tooShort:
            return "\(credential) is cut off in the database; set it again with `pushmta credential set`."
        case .unknownFormat(let format):
            return "\(credential) is sealed in format \(format), which this version does not know; update the program."
        case .otherKey(let keyID):
            return """
                \(credential) cannot be opened: it was sealed with the key \(keyID), which is not in the key file; take the key \
                file of the other hosts, or set the credential again with `pushmta credential set`.
                """
        case .notAuthentic:
            return """
                \(credential) cannot be opened: the master key is not the one it was sealed with, or its bytes were \
                changed; check the key file, or set the credential again with `pushmta credential set`.
                """
        }
    }
}
