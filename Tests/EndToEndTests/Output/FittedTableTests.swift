import Testing

@testable import Administration
@testable import pushmta

@Suite struct FittedTableTests {
    @Test func columnsWithoutValuesAreLeftOutAndNumbersEndAtOneEdge() {
        var table = FittedTable([.text("name"), .number("sent"), .number("failed"), .text("state")])
        table.add(["a", "5", "", "idle"], notes: ["", "unknown 2"])
        table.add(["bcd", "1200", "", "working"])
        #expect(
            table.text(width: 80) == """
                name  sent  state
                a        5  idle
                    unknown 2
                bcd   1200  working
                """
        )
    }

    @Test func wordsGiveWayAndNumbersDoNot() {
        var table = FittedTable([.text("name"), .number("sent"), .text("state")])
        table.add(
            [String(repeating: "n", count: 100), "123456789", "working"],
            notes: [String(repeating: "é ", count: 60)]
        )
        let lines = table.text(width: 40).split(separator: "\n")
        #expect(lines.allSatisfy { DisplayWidth.of(String($0)) <= 40 }, "\(lines)")
        #expect(lines[1].contains("n…") && lines[1].hasSuffix("123456789  working"), "\(lines[1])")
        #expect(lines.count == 6)
    }

    @Test func whatATerminalWouldObeyIsEscaped() {
        var table = FittedTable([.text("name")])
        table.add(["a\u{1B}[2Jb"], notes: ["one\ntwo"])
        #expect(table.text(width: 80) == "name\n" + #"a\u001b[2Jb"# + "\n    " + #"one\ntwo"#)
    }

    @Test func charactersOfTwoColumnsCountTwice() {
        #expect(DisplayWidth.of("夏a") == 3 && DisplayWidth.of("e\u{301}") == 1 && DisplayWidth.of("👍") == 2)
        #expect(DisplayWidth.cut("夏夏夏", to: 4) == "夏…" && DisplayWidth.cut("夏夏", to: 4) == "夏夏")
        #expect(DisplayWidth.padded("夏", to: 4) == "夏  " && DisplayWidth.padded("1", to: 3, alignsRight: true) == "  1")
        #expect(DisplayWidth.wrapped("aa 夏夏夏 b", to: 4) == ["aa", "夏夏", "夏 b"])
    }

    @Test func agesAreWords() {
        #expect(
            [0, 119, 120, 7_199, 7_200, 172_800].map(AgeWords.text) == [
                "0 s", "119 s", "2 min", "119 min", "2 h", "2 d",
            ]
        )
        #expect(AgeWords.text(.nan) == "-" && AgeWords.text(-5) == "0 s")
    }
}
