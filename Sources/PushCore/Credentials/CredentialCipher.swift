import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Seals credentials (keys, certificates, service accounts) for the database with AES-256-GCM. The master key is not
/// stored in the database.
///
/// A sealed credential is a format byte, the nonce, the ciphertext and the tag. The credential's id is authenticated
/// with it. So a user who can write to the database cannot replace one credential with another.
package struct CredentialCipher: Sendable {
    /// The length of a master key, in bytes.
    package static let keyLength = 32
    private static let format: UInt8 = 1

    /// The first 8 hexadecimal digits of the key's SHA-256. It is stored with each credential, for key rotation.
    package let keyID: String
    private let key: SymmetricKey

    /// Makes a cipher; throws if the key is not 32 bytes long.
    package init(key: [UInt8]) throws(CredentialError) {
        guard key.count == Self.keyLength else { throw CredentialError(code: .badKey, credentialID: nil) }
        self.key = SymmetricKey(data: key)
        keyID = HexDigit.text(SHA256.hash(data: key).prefix(4))
    }

    /// Makes a cipher from the text of a key: 64 hexadecimal digits; white space is ignored.
    package init(keyText: String) throws(CredentialError) {
        let digits = keyText.split(whereSeparator: \.isWhitespace).joined().utf8.map(HexDigit.value)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count - digits.count % 2, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { break }
            bytes.append(high << 4 | low)
        }
        guard digits.count == Self.keyLength * 2 else { throw CredentialError(code: .badKey, credentialID: nil) }
        try self.init(key: bytes)
    }

    /// A new random key, in the form that a key file has.
    package static func newKeyText() -> String {
        // The system's generator is cryptographically secure on every platform.
        HexDigit.text((0..<keyLength).map { _ in UInt8.random(in: .min ... .max) })
    }

    package func seal(_ material: [UInt8], credentialID: Int64) throws(CredentialError) -> [UInt8] {
        let context = Self.context(credentialID)
        guard let box = try? AES.GCM.seal(material, using: key, authenticating: context), let combined = box.combined
        else {
            throw CredentialError(code: .notAuthentic, credentialID: credentialID)
        }
        return [Self.format] + combined
    }

    package func open(_ sealed: [UInt8], credentialID: Int64) throws(CredentialError) -> [UInt8] {
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
