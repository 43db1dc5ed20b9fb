import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite struct JSONEscapingTests {
    private func escaped(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "[")] + [UInt8(ascii: "\"")] + JSONText.escaped(bytes) + Array("\"]".utf8)
    }

    /// `JSONSerialization` would drop a U+FEFF at the beginning of a string.
    private func parsed(_ bytes: [UInt8]) throws -> String {
        try #require(try JSONDecoder().decode([String].self, from: Data(bytes)).first)
    }

    private func isSame(_ left: String, _ right: String) -> Bool {
        left.unicodeScalars.elementsEqual(right.unicodeScalars)
    }

    @Test func everyScalarComesBack() throws {
        var bytes: [UInt8] = []
        for value in UInt32(0)...0x10FFFF {
            if let scalar = Unicode.Scalar(value) { bytes += Array(String(scalar).utf8) }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(isSame(try parsed(escaped(bytes)), text))
        guard case .array(let elements) = try JSONParser.parse(escaped(bytes)), case .string(let own) = elements.first
        else {
            Issue.record("not a string")
            return
        }
        #expect(isSame(own, text))
    }

    @Test func aByteOrderMarkStays() throws {
        #expect(isSame(try parsed(escaped(Array("\u{FEFF}a".utf8))), "\u{FEFF}a"))
    }

    @Test func randomTextComesBack() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "JSON escaping of text"))
        for _ in 0..<2_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<random.below(40) { text.append(scalar(&random)) }
            let expected = String(text)
            let output = escaped(Array(expected.utf8))
            #expect(isSame(try parsed(output), expected), "\(output)")
        }
    }

    /// Eight bytes are looked at together: none hides another, at whichever place, and none outside the range is looked at.
    @Test func eachByteIsSeenAtEachPlace() throws {
        for length in [8, 9, 16, 23] {
            for place in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: UInt8(ascii: "~"), count: length)
                    bytes[place] = byte
                    var output = Array("[\"".utf8)
                    JSONText.appendEscaped([0x22] + bytes + [0x22], 1..<length + 1, to: &output)
                    #expect(isSame(try parsed(output + Array("\"]".utf8)), String(decoding: bytes, as: UTF8.self)))
                }
            }
        }
    }

    /// Whatever stands beside it, each byte is judged for itself.
    @Test func eightBytesArePlainIfEachIs() {
        for around in [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F] as [UInt64] {
            for place in UInt64(0)..<8 {
                for byte in UInt64(0)...255 {
                    let word = (around &* 0x0101_0101_0101_0101) & ~(255 << (8 * place)) | byte << (8 * place)
                    let isPlain = (0x20..<0x80).contains(byte) && byte != 0x22 && byte != 0x5C
                    #expect(JSONText.isPlain(word) == isPlain, "\(byte) at \(place) beside \(around)")
                }
            }
        }
    }

    /// Bytes that are no text are repaired as Swift repairs them.
    @Test func randomBytesAreRepaired() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "JSON escaping of bytes"))
        // Bytes that begin, continue and spoil sequences, often next to one another.
        let special: [UInt8] = [
            0x00, 0x1F, 0x22, 0x5C, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED,
            0xEF,
            0xF0, 0xF1, 0xF4, 0xF5, 0xFF,
        ]
        for _ in 0..<5_000 {
            let bytes = (0..<random.below(12)).map { _ in special[random.below(special.count)] }
            let expected = String(decoding: bytes, as: UTF8.self)
            #expect(isSame(try parsed(escaped(bytes)), expected), "\(bytes)")
        }
    }

    private func scalar(_ random: inout TestRandom) -> Unicode.Scalar {
        let bounds: [UInt32] = [0x20, 0x80, 0x800, 0x10000, 0x110000]
        let value = UInt32(random.next() % UInt64(bounds[random.below(bounds.count)]))
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }
}
