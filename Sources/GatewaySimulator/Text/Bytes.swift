/// Compares ranges of a buffer without making strings.
enum Bytes {
    /// Whether the range equals the other bytes. It compares all of them, so that the compiler can vectorise the loop.
    @inline(__always)
    static func equal(_ bytes: [UInt8], _ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count, range.upperBound <= bytes.count else { return false }
        var difference: UInt8 = 0
        for offset in other.indices { difference |= bytes[range.lowerBound &+ offset] ^ other[offset] }
        return difference == 0
    }

    /// Whether the range equals the word.
    @inline(__always)
    static func equal(_ bytes: [UInt8], _ range: Range<Int>, _ word: StaticString) -> Bool {
        range.count == word.utf8CodeUnitCount && hasPrefix(bytes, range, word)
    }

    /// Whether the range begins with the word.
    @inline(__always)
    static func hasPrefix(_ bytes: [UInt8], _ range: Range<Int>, _ word: StaticString) -> Bool {
        guard range.count >= word.utf8CodeUnitCount, range.upperBound <= bytes.count else { return false }
        return word.withUTF8Buffer { known in
            for offset in 0..<known.count where known[offset] != bytes[range.lowerBound &+ offset] { return false }
            return true
        }
    }

    /// Whether the range is a decimal number of at most 18 digits.
    static func isDecimal(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        (1...18).contains(range.count)
            && range.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
    }

    /// The text, for error messages and rare comparisons.
    static func text(_ bytes: [UInt8], _ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

/// A range of a buffer. It is compact because a request has a dozen of them.
struct BytePlace {
    var start: Int32
    var end: Int32

    /// No range.
    static let absent = BytePlace(start: -1, end: -1)

    var isAbsent: Bool { start < 0 }
    var range: Range<Int> { Int(start)..<Int(end) }
    var count: Int { Int(end - start) }
}

extension BytePlace {
    init(_ range: Range<Int>) {
        self.init(
            start: Int32(truncatingIfNeeded: range.lowerBound),
            end: Int32(truncatingIfNeeded: range.upperBound)
        )
    }
}

/// Processes eight bytes at a time. The loads are plain Swift; the compiler makes each one instruction and one check.
enum Words {
    /// A word with every byte 1.
    static let ones: UInt64 = 0x0101_0101_0101_0101
    /// A word with the highest bit of every byte set.
    static let tops: UInt64 = 0x8080_8080_8080_8080

    /// Eight bytes, the first one lowest.
    @inline(__always)
    static func load(_ bytes: [UInt8], _ index: Int) -> UInt64 {
        precondition(index >= 0 && index <= bytes.count &- 8)
        return UInt64(bytes[index]) | UInt64(bytes[index &+ 1]) << 8 | UInt64(bytes[index &+ 2]) << 16
            | UInt64(bytes[index &+ 3]) << 24 | UInt64(bytes[index &+ 4]) << 32 | UInt64(bytes[index &+ 5]) << 40
            | UInt64(bytes[index &+ 6]) << 48 | UInt64(bytes[index &+ 7]) << 56
    }

    /// Four bytes, the first one lowest.
    @inline(__always)
    static func loadHalf(_ bytes: [UInt8], _ index: Int) -> UInt64 {
        precondition(index >= 0 && index <= bytes.count &- 4)
        return UInt64(bytes[index]) | UInt64(bytes[index &+ 1]) << 8 | UInt64(bytes[index &+ 2]) << 16
            | UInt64(bytes[index &+ 3]) << 24
    }

    /// Eight copies of the byte.
    @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { ones &* UInt64(byte) }

    /// Marks zero bytes with their highest bit. The lowest mark is correct; marks above it may be wrong.
    @inline(__always)
    static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }

    /// The value of eight hexadecimal digits in upper or lower case, the first one highest; nil if one is not a digit.
    @inline(__always)
    static func hexadecimal(_ word: UInt64) -> UInt32? {
        // Bit 6 distinguishes letters from digits.
        let letters = (word >> 6) & ones
        let values = (word & all(0x0F)) &+ letters &* 9
        // Digits are 0x30…0x39, letters 0x41…0x46 or 0x61…0x66. With bit 5 set, a letter's upper half is 6.
        let upper = (word & all(0xF0)) | letters << 5
        let wrong =
            (upper ^ (all(0x30) &+ letters &* 0x30)) | (values & all(0xF0))
            | (((values &+ all(6)) & all(0x10)) ^ letters << 4)
        if wrong != 0 { return nil }
        let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        let quads = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: quads | quads >> 16).byteSwapped
    }
}

/// A fast hash of a range of bytes, the same in every process.
enum ByteHash {
    /// Mixes eight bytes per step with a multiplication and a fold.
    static func hash(_ bytes: [UInt8], _ range: Range<Int>, seed: UInt64) -> UInt64 {
        var state = seed ^ UInt64(truncatingIfNeeded: range.count)
        var index = range.lowerBound
        while index &+ 8 <= range.upperBound {
            state = mix(state ^ Words.load(bytes, index))
            index &+= 8
        }
        var rest: UInt64 = 0
        while index < range.upperBound {
            rest = rest << 8 | UInt64(bytes[index])
            index &+= 1
        }
        return mix(state ^ rest)
    }

    /// Multiplies to 128 bits and folds the halves.
    @inline(__always)
    static func mix(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x2D35_8DCC_AA6C_78A5).multipliedFullWidth(by: 0x8BB8_4B93_962E_ACC9)
        return product.high ^ product.low
    }
}
