/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), computed from tables, eight bytes a step.
enum CRC32C {
    /// The Castagnoli polynomial, its bits reversed.
    private static let polynomial: UInt32 = 0x82F6_3B78

    /// Eight consecutive tables of 256 entries; table k is for a byte followed by k others.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        return tables
    }()

    /// The checksum of a range of bytes.
    static func checksum(_ bytes: [UInt8], _ range: Range<Int>) -> UInt32 {
        let tables = tables
        var crc: UInt32 = 0xFFFF_FFFF
        var index = range.lowerBound
        while index + 8 <= range.upperBound {
            let low = crc ^ load(bytes, index)
            let high = load(bytes, index + 4)
            crc = tables[1792 + Int(low & 0xFF)] ^ tables[1536 + Int(low >> 8 & 0xFF)]
            crc ^= tables[1280 + Int(low >> 16 & 0xFF)] ^ tables[1024 + Int(low >> 24)]
            crc ^= tables[768 + Int(high & 0xFF)] ^ tables[512 + Int(high >> 8 & 0xFF)]
            crc ^= tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
            index += 8
        }
        while index < range.upperBound {
            crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)]
            index += 1
        }
        return ~crc
    }

    @inline(__always)
    private static func load(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
            | UInt32(bytes[index + 3]) << 24
    }
}
