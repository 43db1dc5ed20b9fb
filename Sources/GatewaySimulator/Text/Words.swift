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
