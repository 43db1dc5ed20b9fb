import PushCore
import Testing

@Suite("Names, labels and the limits of deliveries")
struct NameRuleTests {
    @Test(
        "What a terminal obeys, a table is torn by or nobody sees is no name",
        arguments: [
            ("", "is empty"), (" ", "is blank"), ("\u{A0}\u{3000}", "is blank"), ("a\nb", "U+000A"),
            ("a\r\nb", "U+000D"),
            ("x\u{1B}[2J", "U+001B"), ("x\u{7F}", "U+007F"), ("x\u{9B}2J", "U+009B"), ("a\u{85}b", "U+0085"),
            ("a\u{2028}b", "U+2028"), ("a\tb", "U+0009"), ("a\u{0}b", "U+0000"),
            (String(repeating: "é", count: 101), "202 bytes"),
        ]
    )
    func refused(_ name: String, _ words: String) {
        #expect(NameRule.problem(name: name)?.contains(words) == true, "\(NameRule.problem(name: name) ?? "taken")")
        #expect(NameRule.problem(integrationKey: name) != nil || name.utf8.count == 202)
        #expect((NameRule.problem(label: name) == nil) == (name.isEmpty || name.utf8.count == 202))
    }

    @Test("Words of all languages are names", arguments: ["shop-ios", "Été à la plage", "日本 🙂", "a|b \"c\"", " x "])
    func taken(_ name: String) {
        #expect(NameRule.problem(name: name) == nil && NameRule.problem(label: name) == nil)
        #expect(NameRule.problem(integrationKey: name) == nil)
    }

    @Test("Names have bytes, labels have characters, and the longest is taken")
    func lengths() {
        #expect(NameRule.problem(name: String(repeating: "é", count: 100)) == nil)
        #expect(NameRule.problem(label: String(repeating: "🙂", count: 500)) == nil)
        #expect(NameRule.problem(label: String(repeating: "a", count: 501))?.contains("501 characters") == true)
        #expect(NameRule.problem(integrationKey: String(repeating: "k", count: 1_000)) == nil)
        #expect(NameRule.problem(integrationKey: String(repeating: "k", count: 1_001)) != nil)
    }

    @Test("A validity is more than none and at most 3,600 days")
    func validity() {
        for seconds in [1, 432_000, 311_040_000] as [Int64] {
            #expect(DeliverySetting.validity.problem(seconds) == nil)
        }
        for seconds in [0, -1, 311_040_001, .max, .min] as [Int64] {
            #expect(DeliverySetting.validity.problem(seconds) != nil)
        }
    }
}
