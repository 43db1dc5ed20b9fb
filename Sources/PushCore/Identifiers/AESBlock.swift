/// Moves two big-endian 64-bit words in and out of a 16-byte array.
enum AESBlock {
    /// The bytes of a block.
    static let length = 16

    /// Writes both words; the array has 16 bytes.
    @inline(__always)
    static func store(high: UInt64, low: UInt64, in block: inout [UInt8]) {
        var span = block.mutableSpan
        var bytes = span.mutableBytes
        bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// Reads both words.
    @inline(__always)
    static func load(_ block: [UInt8]) -> (high: UInt64, low: UInt64) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(block[index])
            low = low << 8 | UInt64(block[index + 8])
        }
        return (high, low)
    }
}
