import PushCore

/// An application's icon for previews: a PNG image of 48×48 pixels, the size that Adobe Campaign's mobile channel uses.
package struct ApplicationIcon: Sendable, Hashable {
    /// Width and height in pixels.
    package static let side: UInt32 = 48
    /// 48×48 pixels of 8 bytes take 18 KiB; the rest is room for text and colour profiles.
    package static let maxBytes = 256 * 1024

    package let png: [UInt8]

    /// Checks a file: its signature, the chunks with their checksums, the size and the end (PNG specification, third
    /// edition). The pixels are not decoded.
    package init(png bytes: [UInt8]) throws(DeclarationError) {
        guard bytes.count <= Self.maxBytes else {
            throw Self.error("it has \(bytes.count) bytes", "make it smaller than \(Self.maxBytes) bytes")
        }
        guard bytes.starts(with: Self.signature) else {
            throw Self.error("it is not a PNG file", "save the image as PNG")
        }
        var chunks = Chunks(bytes: bytes, position: Self.signature.count)
        guard let header = try chunks.next(), header.name == "IHDR", header.data.count == 13 else {
            throw Self.error("its first chunk is not an image header", "save the image as PNG again")
        }
        let width = Chunks.word(bytes, header.data.lowerBound)
        let height = Chunks.word(bytes, header.data.lowerBound + 4)
        guard width == Self.side, height == Self.side else {
            throw Self.error("it has \(width)×\(height) pixels", "make it \(Self.side)×\(Self.side) pixels")
        }
        var hasPixels = false
        while let chunk = try chunks.next() {
            if chunk.name == "IDAT" { hasPixels = hasPixels || !chunk.data.isEmpty }
            guard chunk.name == "IEND" else { continue }
            guard hasPixels, chunk.data.isEmpty, chunks.isAtEnd else { break }
            png = bytes
            return
        }
        throw Self.error("it has no pixels, or is truncated", "save the image as PNG again")
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func error(_ cause: String, _ remedy: String) -> DeclarationError {
        DeclarationError("icon", cause, remedy)
    }

    /// The chunks of a file: length, name, data, checksum of name and data.
    private struct Chunks {
        let bytes: [UInt8]
        var position: Int

        var isAtEnd: Bool { position == bytes.count }

        mutating func next() throws(DeclarationError) -> (name: String, data: Range<Int>)? {
            guard bytes.count - position >= 12 else { return nil }
            let length = Int(Self.word(bytes, position))
            guard length <= bytes.count - position - 12 else { return nil }
            let data = position + 8..<position + 8 + length
            guard CRC32.checksum(bytes[position + 4..<data.upperBound]) == Self.word(bytes, data.upperBound) else {
                throw ApplicationIcon.error("a checksum is wrong", "the file is damaged: save the image again")
            }
            let name = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
            position = data.upperBound + 4
            return (name, data)
        }

        static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
            bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

/// The CRC-32 that PNG uses (ISO 3309, reversed polynomial).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    /// The checksum of some bytes.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in crc >> 8 ^ table[Int((crc ^ UInt32(byte)) & 0xFF)] }
    }
}
