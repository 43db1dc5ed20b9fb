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
