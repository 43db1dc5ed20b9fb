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
