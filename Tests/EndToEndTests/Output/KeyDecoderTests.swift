import Testing

@testable import Administration

/// Decodes keys from the bytes of a terminal.
@Suite struct KeyDecoderTests {
    private func keys(_ pieces: String...) -> [TerminalKey] {
        var decoder = KeyDecoder()
        return pieces.flatMap { decoder.decode(Array($0.utf8)) }
    }

    @Test func lettersControlKeysAndArrows() {
        #expect(keys("aé夏👍") == [.character("a"), .character("é"), .character("夏"), .character("👍")])
        #expect(keys("\r\n\t\u{7F}\u{8}\u{3}") == [.enter, .enter, .tab, .backspace, .backspace, .control("c")])
        #expect(keys("\u{1B}[A\u{1B}OB\u{1B}[1;5C\u{1B}[5~\u{1B}[Z") == [.up, .down, .right, .pageUp, .backTab])
        #expect(keys("\u{1B}") == [.escape] && keys("\u{1B}x") == [.escape, .character("x")])
        // Function keys and answers of the terminal are ignored.
        #expect(keys("\u{1B}[15~\u{1B}[?1;2cq") == [.character("q")])
    }

    @Test func whatComesInPiecesIsPutTogether() {
        #expect(keys("\u{1B}[", "A") == [.up])
        var decoder = KeyDecoder()
        #expect(
            decoder.decode([0xE5, 0xA4]).isEmpty && decoder.decode([0x8F, 0x61]) == [.character("夏"), .character("a")]
        )
    }

    @Test func rubbishDoesNoHarm() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0xFF, 0x80, 0xC0, 0x00, 0x71]) == [.character("q")])
        #expect(decoder.decode([0xE5, 0x71]) == [.character("q")])
        #expect(decoder.decode([0xED, 0xA0, 0x80, 0x71]) == [.character("q")])
        #expect(decoder.decode(Array("\u{1B}[1111111111111111111111".utf8)).isEmpty)
        #expect(decoder.decode(Array("q".utf8)) == [.character("q")])
        for seed in 0..<2_000 {
            var state = UInt64(seed)
            let bytes = (0..<40).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            var whole = KeyDecoder()
            #expect(whole.decode(bytes).count <= bytes.count)
        }
    }
}
