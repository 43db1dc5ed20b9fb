/// Triple DES (NIST SP 800-67), decryption only, for the keys in exported certificates.
///
/// Bit by bit as the standard writes it: some kilobytes are decrypted once, so speed does not matter.
struct TripleDES: BlockCipher {
    /// The round keys in the order of decryption: those of the third key first.
    private let keys: [[UInt64]]

    /// Makes a cipher of a key of 24 bytes, or of 16, whose first half is also the last third; nil for another length.
    init?(key: [UInt8]) {
        let whole = key.count == 16 ? key + key.prefix(8) : key
        guard whole.count == 24 else { return nil }
        let parts = [0, 8, 16].map { start in
            Self.roundKeys(whole[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
        }
        keys = [parts[2].reversed(), parts[1], parts[0].reversed()]
    }

    func decrypt(_ block: UInt64) -> UInt64 {
        keys.reduce(block) { Self.crypt($0, $1) }
    }

    /// DES with the given round keys: in their order it encrypts, in the reverse order it decrypts.
    private static func crypt(_ block: UInt64, _ keys: [UInt64]) -> UInt64 {
        let start = permute(block, 64, DESTables.initial)
        var left = UInt32(truncatingIfNeeded: start >> 32)
        var right = UInt32(truncatingIfNeeded: start)
        for key in keys {
            (left, right) = (right, left ^ feistel(right, key))
        }
        return permute(UInt64(right) << 32 | UInt64(left), 64, DESTables.final)
    }

    private static func feistel(_ half: UInt32, _ key: UInt64) -> UInt32 {
        let mixed = permute(UInt64(half), 32, DESTables.expansion) ^ key
        var output: UInt64 = 0
        for box in 0..<8 {
            let six = Int(truncatingIfNeeded: mixed >> UInt64(42 - 6 * box)) & 0x3F
            let row = (six >> 4 & 2) | (six & 1)
            output = output << 4 | UInt64(DESTables.boxes[box][row * 16 + (six >> 1 & 0xF)])
        }
        return UInt32(truncatingIfNeeded: permute(output, 32, DESTables.output))
    }

    private static func roundKeys(_ key: UInt64) -> [UInt64] {
        let chosen = permute(key, 64, DESTables.keyChoice)
        var left = chosen >> 28
        var right = chosen & 0xFFF_FFFF
        return DESTables.rotations.map { count in
            left = (left << count | left >> (28 - count)) & 0xFFF_FFFF
            right = (right << count | right >> (28 - count)) & 0xFFF_FFFF
            return permute(left << 28 | right, 56, DESTables.roundChoice)
        }
    }

    /// Takes bits of a word of `width` bits by their numbers in the standard, which counts from 1 at the highest.
    private static func permute(_ word: UInt64, _ width: Int, _ table: [UInt8]) -> UInt64 {
        table.reduce(0) { $0 << 1 | word >> UInt64(width - Int($1)) & 1 }
    }
}
