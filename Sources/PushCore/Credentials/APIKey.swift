import Crypto

/// A bearer key of the API: `pushmta_`, a public id of 16 hexadecimal digits, `_`, and a secret of 64 hexadecimal
/// digits.
///
/// The database stores the SHA-256 of the whole key. A slow password hash would add nothing: 2^256 secrets cannot be
/// searched, and every request would pay for the hash.
package struct APIKey: Sendable {
    /// The public id, used in lists and look-ups; not secret.
    package let publicID: String
    /// The whole key. It is shown only once, when it is created.
    package let secretText: String

    private static let prefix = "pushmta_"
    private static let idLength = 16
    private static let secretLength = 64

    /// Parses a key; nil if it is malformed.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let idStart = Self.prefix.utf8.count
        let secretStart = idStart + Self.idLength + 1
        guard bytes.count == secretStart + Self.secretLength, text.hasPrefix(Self.prefix),
            bytes[secretStart - 1] == UInt8(ascii: "_"),
            Self.isHex(bytes[idStart..<secretStart - 1]), Self.isHex(bytes[secretStart...])
        else { return nil }
        publicID = String(decoding: bytes[idStart..<secretStart - 1], as: UTF8.self)
        secretText = text
    }

    /// Makes a key with 256 random bits.
    ///
    /// - Parameter random: a cryptographically secure generator, such as `SystemRandomNumberGenerator`.
    package init(using random: inout some RandomNumberGenerator) {
        publicID = Self.hex(random.next())
        let secret = (0..<4).map { _ in Self.hex(random.next()) }.joined()
        secretText = Self.prefix + publicID + "_" + secret
    }

    /// The hash that the database stores: 32 bytes.
    package var hash: [UInt8] { Array(SHA256.hash(data: Array(secretText.utf8))) }

    /// Compares two hashes in constant time.
    package static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(left, right) { difference |= one ^ other }
        return difference == 0
    }

    /// Accepts lower case only, so that a key has exactly one form.
    private static func isHex(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { HexDigit.value($0) != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: idLength - digits.count) + digits
    }
}
