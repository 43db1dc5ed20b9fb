/// A hexadecimal device token, read and hashed in one pass.
struct APNsDeviceToken {
    /// The device's key, independent of the digits' case.
    var key: MessageKey

    /// The maximum number of digits. Apple says not to assume a size; the binary protocol's last version allowed 100
    /// bytes.
    private static let maxDigits = 200

    /// Reads an even number of digits; nil for anything else.
    @inline(__always)
    init?(_ bytes: [UInt8], _ range: Range<Int>) {
        guard range.count >= 2, range.count <= Self.maxDigits, range.count & 1 == 0, range.upperBound <= bytes.count
        else {
            return nil
        }
        var first = UInt64(range.count)
        var second: UInt64 = 0x9E37_79B9_7F4A_7C15
        var index = range.lowerBound
        while index &+ 8 <= range.upperBound {
            guard let value = Words.hexadecimal(Words.load(bytes, index)) else { return nil }
            first = ByteHash.mix(first ^ UInt64(value))
            second = ByteHash.mix(second &+ UInt64(value))
            index &+= 8
        }
        // Tokens have 64 digits so far; this handles tokens that do not end with a whole word.
        var rest: UInt64 = 0
        while index < range.upperBound {
            guard let digit = HexNibble.value(bytes[index]) else { return nil }
            rest = rest << 4 | UInt64(digit)
            index &+= 1
        }
        key = MessageKey(high: ByteHash.mix(first ^ rest), low: ByteHash.mix(second &+ rest))
    }

    /// The bytes of a token's text; nil if it is not an APNs token.
    static func bytes(of text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard APNsDeviceToken(digits, digits.indices) != nil else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { index in
            (HexNibble.value(digits[index]) ?? 0) << 4 | (HexNibble.value(digits[index + 1]) ?? 0)
        }
    }

    /// The key of a token's text; nil if it is not an APNs token.
    static func key(of text: String) -> MessageKey? {
        let bytes = Array(text.utf8)
        return APNsDeviceToken(bytes, bytes.indices)?.key
    }
}
