import PushCore

/// The 16-byte key of a message: its UUID, a number, or a hash if it has neither.
struct MessageKey: Hashable, Sendable {
    var high: UInt64
    var low: UInt64

    /// The upper half of a decimal number's key ("decimal:" in ASCII). A random UUID has it with a probability of
    /// 2^-64.
    private static let decimalMark: UInt64 = 0x6465_6369_6D61_6C3A

    /// The key of a request without a recognisable message.
    static let none = MessageKey(high: 0, low: 0)

    /// The id as text.
    var text: String {
        if self == .none { return "" }
        return high == Self.decimalMark ? String(low) : MessageUUID(high: high, low: low).description
    }
}

extension MessageKey {
    /// The key of an id in a buffer: a UUID, a decimal number, or the hash of anything else.
    init(id bytes: [UInt8], _ range: Range<Int>) {
        self = Self(uuid: bytes, range) ?? Self(decimal: bytes, range) ?? Self(hashOf: bytes, range)
    }

    /// The key of an id's text.
    init(id text: String) {
        let bytes = Array(text.utf8)
        self.init(id: bytes, bytes.indices)
    }

    /// The key of a canonical UUID, 8-4-4-4-12 digits in upper or lower case; nil for anything else.
    @inline(__always)
    init?(uuid bytes: [UInt8], _ range: Range<Int>) {
        guard range.count == MessageUUID.textLength, range.upperBound <= bytes.count else { return nil }
        let start = range.lowerBound
        let hyphen = UInt8(ascii: "-")
        guard bytes[start + 8] == hyphen, bytes[start + 13] == hyphen, bytes[start + 18] == hyphen,
            bytes[start + 23] == hyphen,
            let first = Words.hexadecimal(Words.load(bytes, start)),
            let second = Words.hexadecimal(Words.loadHalf(bytes, start + 9) | Words.loadHalf(bytes, start + 14) << 32),
            let third = Words.hexadecimal(Words.loadHalf(bytes, start + 19) | Words.loadHalf(bytes, start + 24) << 32),
            let fourth = Words.hexadecimal(Words.load(bytes, start + 28))
        else { return nil }
        self.init(high: UInt64(first) << 32 | UInt64(second), low: UInt64(third) << 32 | UInt64(fourth))
    }

    private init?(decimal bytes: [UInt8], _ range: Range<Int>) {
        // 19 digits always fit into 64 bits.
        guard (1...19).contains(range.count), bytes[range.lowerBound] != UInt8(ascii: "0") else { return nil }
        var value: UInt64 = 0
        for index in range {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        self.init(high: Self.decimalMark, low: value)
    }

    /// The key of arbitrary bytes: two independent 64-bit hashes.
    init(hashOf bytes: [UInt8], _ range: Range<Int>) {
        self.init(
            high: ByteHash.hash(bytes, range, seed: 0xCBF2_9CE4_8422_2325),
            low: ByteHash.hash(bytes, range, seed: 0x9AE1_6A3B_2F90_404F)
        )
    }
}
