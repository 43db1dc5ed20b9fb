/// A cipher of blocks of 8 bytes that old files are encrypted with; nothing new ever is.
protocol BlockCipher {
    /// Decrypts one block.
    func decrypt(_ block: UInt64) -> UInt64
}

extension BlockCipher {
    /// Decrypts in CBC mode and takes the padding (RFC 8018 section 6.1.1) off.
    ///
    /// - Parameter vector: 8 bytes.
    /// - Returns: nil when the length or the padding is wrong, as with a wrong key.
    func decryptCBC(_ bytes: ArraySlice<UInt8>, vector: [UInt8]) -> [UInt8]? {
        guard vector.count == 8, !bytes.isEmpty, bytes.count % 8 == 0 else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var previous = Self.word(vector[...])
        var rest = bytes
        while !rest.isEmpty {
            let block = Self.word(rest.prefix(8))
            let plain = decrypt(block) ^ previous
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: plain >> shift))
            }
            previous = block
            rest = rest.dropFirst(8)
        }
        guard let padding = output.last, (1...8).contains(padding),
            output.suffix(Int(padding)).allSatisfy({ $0 == padding })
        else { return nil }
        return Array(output.dropLast(Int(padding)))
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
