import PushCore
import Testing

@testable import Content

@Suite("Icons of applications")
struct ApplicationIconTests {
    /// A grey image, stored without compression in a zlib stream.
    static func png(width: UInt32 = 48, height: UInt32 = 48) -> [UInt8] {
        let row = [UInt8](repeating: 0, count: Int(width) + 1)
        let raw = (0..<height).flatMap { _ in row }
        var data: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: raw.count, by: 60_000) {
            let block = raw[start..<min(start + 60_000, raw.count)]
            let length = UInt16(block.count)
            data.append(start + 60_000 >= raw.count ? 1 : 0)
            data += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)] + block
        }
        // Adler-32 of zeros: the first sum stays 1, the second is their number.
        data += word(UInt32(raw.count % 65_521) << 16 | 1)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", word(width) + word(height) + [8, 0, 0, 0, 0]) + chunk("IDAT", data) + chunk("IEND", [])
    }

    private static func word(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in body {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return word(UInt32(data.count)) + body + word(~crc)
    }

    @Test func anIconOfTheRightSizeIsTaken() throws {
        #expect(try ApplicationIcon(png: Self.png()).png == Self.png())
    }

    @Test(arguments: [(47, 48), (48, 49), (96, 96), (0, 48), (UInt32.max, 1)] as [(UInt32, UInt32)])
    func anotherSizeIsRefused(_ width: UInt32, _ height: UInt32) {
        // The header decides, so the pixels of a huge image are not created.
        var png = Self.png()
        let header = Self.chunk("IHDR", Self.word(width) + Self.word(height) + [8, 0, 0, 0, 0])
        png.replaceSubrange(8..<8 + header.count, with: header)
        #expect { try ApplicationIcon(png: png) } throws: { "\($0)".contains("\(width)×\(height)") }
    }

    @Test("A truncated file, or one with a changed byte, is refused and does not end the program")
    func damaged() throws {
        let png = Self.png()
        for end in 0..<png.count where (try? ApplicationIcon(png: Array(png[..<end]))) != nil {
            Issue.record("cut off at \(end)")
        }
        for place in png.indices {
            var changed = png
            changed[place] ^= 0x41
            if (try? ApplicationIcon(png: changed)) != nil { Issue.record("changed at \(place)") }
        }
        #expect(throws: DeclarationError.self) { try ApplicationIcon(png: png + [0]) }
        #expect(throws: DeclarationError.self) { try ApplicationIcon(png: Array("GIF89a".utf8)) }
        #expect(throws: DeclarationError.self) {
            try ApplicationIcon(png: [UInt8](repeating: 0, count: ApplicationIcon.maxBytes + 1))
        }
    }
}
