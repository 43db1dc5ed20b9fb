import Testing

@testable import Supervisor

@Suite struct StderrTailTests {
    @Test func wholeLinesAreForwarded() {
        var words = StderrTail()
        #expect(words.append("one\ntw".utf8) == Array("one\n".utf8))
        #expect(words.append("o\n".utf8) == Array("two\n".utf8))
        #expect(words.finish().isEmpty)
        #expect(words.text == "one\ntwo")
    }

    @Test func anEndlessLineComesInPieces() {
        var words = StderrTail()
        var forwarded = 0
        for _ in 0..<100 { forwarded += words.append([UInt8](repeating: 0x61, count: 1_000)).count }
        #expect(forwarded == 98_304)
        #expect(words.text.split(separator: "\n").allSatisfy { $0.count == StderrTail.maxLineLength })
    }

    @Test func controlCharactersAndBrokenTextDoNoHarm() {
        var words = StderrTail()
        _ = words.append([0x1B, 0x5B, 0x33, 0x31, 0x6D, 0xFF, 0x41, 0x0A])
        #expect(words.text == " [31m\u{FFFD}A")
    }
}
