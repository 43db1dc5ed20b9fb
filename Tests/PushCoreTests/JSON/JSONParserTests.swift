import TestSupport
import Testing

@testable import PushCore

@Suite struct JSONParserTests {
    @Test func valuesComeOutAsTheyWentIn() throws {
        let value = try JSONParser.parse(Array(#" {"b": [1.0, -0e+5, true, null, "x\né😀\ud800"], "a": {}} "#.utf8))
        #expect(
            value
                == .object([
                    JSONEntry(
                        name: "b",
                        value: .array([
                            .number("1.0"), .number("-0e+5"), .boolean(true), .null, .string("x\né😀\u{FFFD}"),
                        ])
                    ),
                    JSONEntry(name: "a", value: .object([])),
                ])
        )
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #"{"\udfff": 1}"#, #""\ud800\u0041""#,
    ])
    func halvesOfPairsCanBeRefused(text: String) throws {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: Array(text.utf8), refusesHalfPairs: true) }
        _ = try JSONValue(parsing: Array(text.utf8))
        #expect(
            try JSONValue(parsing: Array(#""\ud83d\ude00\ud7ff\ue000""#.utf8), refusesHalfPairs: true)
                == .string("😀\u{D7FF}\u{E000}")
        )
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "1.", "-", ".5", "1e", "tru", "nul", "\"", "\"\\x\"",
        "\"\\u12\"",
        "\"a\nb\"", "1 2", "[1}", "{1:2}", "NaN", "'a'", "+1",
    ])
    func refusesOtherTexts(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(Array(text.utf8)) }
    }

    @Test func saysWhere() {
        #expect(throws: JSONSyntaxError(cause: "a colon is expected", line: 2, column: 6)) {
            try JSONParser.parse(Array("{\n \"a\" 1}".utf8))
        }
    }

    @Test func deepNestingIsRefusedAndNotACrash() {
        for bracket in ["[", "{\"a\":"] {
            let text = String(repeating: bracket, count: 100_000)
            #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(Array(text.utf8)) }
        }
    }

    @Test func randomBytesNeverCrash() {
        var random = TestRandom(seed: TestRandom.seed(for: "JSON parser"))
        let alphabet = Array("{}[]\",:\\u0123456789abcdeftrun-+.E \n".utf8) + [0, 0xC3, 0xA9, 0xFF]
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(24)).map { _ in alphabet[random.below(alphabet.count)] }
            _ = try? JSONParser.parse(bytes)
        }
    }
}
