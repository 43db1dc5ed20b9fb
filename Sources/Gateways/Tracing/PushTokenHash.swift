import Crypto
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The hash that identifies a push token where the token itself must not appear.
package enum PushTokenHash {
    /// SHA-256 of the token's bytes in lower-case hexadecimal digits, as `printf %s TOKEN | sha256sum` writes it.
    package static func text(_ token: some Sequence<UInt8>) -> String {
        HexDigit.text(SHA256.hash(data: Array(token)))
    }

    /// Whether a text can be such a hash.
    package static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { HexDigit.value($0) != nil }
    }

    /// The bytes of such a hash; nil if the text is none.
    package static func bytes(_ text: String) -> [UInt8]? {
        guard isHash(text) else { return nil }
        let digits = text.utf8.compactMap { HexDigit.value($0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Whether a push token has a hash, given as its bytes.
    package static func isHash(_ hash: [UInt8], of token: ArraySlice<UInt8>) -> Bool {
        SHA256.hash(data: token).elementsEqual(hash)
    }
}
