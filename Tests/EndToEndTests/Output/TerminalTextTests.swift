import PostgresClient
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("shop été 日本 – “x”…", "shop été 日本 – “x”…"), ("a\u{1B}[31mb", #"a\u001b[31mb"#),
        ("a\u{9B}2J\u{7F}", #"a\u009b2J\u007f"#),
        ("a\nb\tc", #"a\nb\tc"#), ("a\u{2028}b\u{85}", #"a\u2028b\u0085"#), ("a\r\nb", #"a\r\nb"#), ("", ""),
    ])
    func nothingIsLeftThatATerminalObeys(_ text: String, _ shown: String) {
        #expect(TerminalText.line(text) == shown)
    }

    @Test func ownLinesAndTabsStay() {
        #expect(TerminalText.lines("a\n\tb\u{7}\r") == "a\n\tb" + #"\u0007\r"#)
    }

    @Test func whatIsCutEndsWithAnEllipsis() {
        #expect(TerminalText.cut("abc", to: 3) == "abc" && TerminalText.cut("abcd", to: 3) == "ab…")
        #expect(TerminalText.cut("🙂🙂🙂", to: 3) == "🙂🙂🙂" && TerminalText.cut("ab", to: 0) == "…")
    }

    @Test func jsonEscapesControlCharactersOfBothKinds() {
        #expect(JSONLine.quoted("a\u{1}\u{9B}\u{7F}\n\"é") == #""a\u0001\u009b\u007f\n\"é""#)
    }

    @Test func aHintRepeatsANameInOneLine() {
        let failure = CommandFailure.unknownName("service", "a\u{1B}[2J", among: ["a\n[2J"], list: "service list")
        #expect(failure.description.contains(#"There is no service a\u001b[2J."#))
        #expect(failure.description.contains(#"Did you mean a\n[2J?"#) && !failure.description.contains("\n"))
    }
}

@Suite struct ErrorWordTests {
    @Test func anErrorOfTheDatabaseShowsNoSQL() {
        let error = PostgresError(
            code: .sqlState("42501"),
            message: "permission denied for view alarm",
            statement: "SELECT a.severity FROM pushmta.alarm a"
        )
        let words = CommandFailure.words(of: error)
        #expect(words.contains("permission denied for view alarm") && words.contains("lacks that right"), "\(words)")
        #expect(!words.contains("SELECT"), "\(words)")
        #expect("\(error)".contains("SELECT"), "a log of ours has it")
    }
}
