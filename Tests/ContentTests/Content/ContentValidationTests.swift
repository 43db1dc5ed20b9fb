import TestSupport
import Testing

@testable import Content
@testable import PushCore

@Suite struct ContentValidationTests {
    private func keys(_ json: String) -> [String] {
        PushContent.validate(json: json).map(\.key)
    }

    @Test func allProblemsAtOnce() throws {
        let json = """
            {"ios": {"titel": "x", "body": "{{name", "badge": -1, "sound": 5, "mutable_content": "yes", "priority": 7,
            "relevance_score": 1.5, "interruption_level": "loud", "variables": {"aps": 1, "u": ["{{}}"]},
            "expiration_seconds": 1.5},
            "androyd": {}}
            """
        let problems = PushContent.validate(json: json)
        #expect(
            problems.map(\.key) == [
                "ios.titel", "ios.body", "ios.badge", "ios.sound", "ios.mutable_content", "ios.priority",
                "ios.relevance_score", "ios.interruption_level", "ios.variables.aps", "ios.variables.u",
                "ios.expiration_seconds", "androyd",
            ]
        )
        #expect(problems.first?.remedy == "the nearest known key is \"title\"")
        #expect(problems.last?.remedy == "the nearest known key is \"android\"")
        #expect(problems.allSatisfy { !$0.cause.isEmpty && !$0.remedy.isEmpty })
        #expect(throws: ContentError(problems: problems)) { try PushContent(json: json) }
    }

    @Test func contentAsAWhole() {
        #expect(PushContent.validate(json: "{").first?.cause.hasPrefix("it is not JSON: ") == true)
        #expect(keys("[]") == [""])
        #expect(keys("{}") == [""])
        #expect(keys(#"{"ios": null}"#) == [""])
        #expect(keys(#"{"ios": []}"#) == ["ios"])
        #expect(keys(#"{"ios": {}}"#) == ["ios"])
        #expect(keys(#"{"android": {}}"#) == ["android"])
        #expect(keys(#"{"ios": {"body": "a", "body": "b", "body": "c"}}"#) == ["ios.body"])
        // A null counts as an absent key, but an unknown key stays unknown.
        #expect(keys(#"{"ios": {"body": "a", "subtitle": null, "bodi": null}}"#) == ["ios.bodi"])
        #expect(keys(#"{"ios": {"body": "a"}, "locales": {"fr": null, "?": null}}"#) == ["locales.?"])
        #expect(
            keys(#"{"android": {"variables": {"a": 1, "a": 2, "n": null}}}"#) == [
                "android.variables.a", "android.variables.n",
            ]
        )
    }

    @Test func keysThatContradictEachOther() {
        #expect(
            keys(#"{"ios": {"body": "x", "push_type": "background", "priority": 10}}"#) == [
                "ios.push_type", "ios.push_type", "ios.priority",
            ]
        )
        #expect(
            keys(#"{"ios": {"body": "x", "collapse_id": "\#(String(repeating: "c", count: 65))"}}"#) == [
                "ios.collapse_id"
            ]
        )
        #expect(keys(#"{"android": {"icon": "x"}}"#) == ["android.icon"])
        #expect(keys(#"{"android": {"body": "x", "color": "red"}}"#) == ["android.color"])
        #expect(keys(#"{"android": {"body": "x", "color": "{{color}}"}}"#).isEmpty)
    }

    @Test(arguments: ["_mId", "_dId", "from", "message_type", "google.x", "gcm.notification.x"])
    func reservedNames(name: String) {
        #expect(keys(#"{"android": {"variables": {"\#(name)": "x"}}}"#) == ["android.variables.\(name)"])
    }

    @Test(arguments: ["{{", "{{a", "{{a}", "{{}}", "{{ | x}}", "{{a{b}}", "{{a\nb}}", "{{ {{a}} }}"])
    func templateErrors(text: String) throws {
        let escaped = String(decoding: JSONText.escaped(Array(text.utf8)), as: UTF8.self)
        #expect(keys(#"{"ios": {"title": "\#(escaped)"}}"#) == ["ios.title"])
    }

    @Test func longKeysAreNotRepeatedInFull() {
        let problems = PushContent.validate(
            json: #"{"ios": {"\#(String(repeating: "k", count: 10_000))": 1, "body": "x"}}"#
        )
        #expect(problems.count == 1)
        #expect(problems.allSatisfy { $0.description.utf8.count < 1_000 })
    }

    /// A large content is refused or read, and the cost never grows with the square of its size.
    @Test func largeContents() throws {
        func object(_ count: Int, _ entry: (Int) -> String) -> String {
            "{" + (0..<count).map(entry).joined(separator: ",") + "}"
        }
        let tooLarge = "{\"ios\": {\"body\": \"\(String(repeating: "x", count: ContentValidator.maxContentSize))\"}}"
        #expect(PushContent.validate(json: tooLarge).map(\.key) == [""])
        #expect(PushContent.validate(json: "{\"ios\": \(object(50_000) { "\"k\($0)\": 1" })}").count == 100)
        #expect(PushContent.validate(json: object(50_000) { "\"k\($0)\": 1" }).count == 100)
        let aps = object(40_000) { "\"k\($0)\": \"{{f\($0)}}\"" }
        #expect(throws: ContentError.self) {
            try PayloadTemplate.compile(
                content: PushContent(json: "{\"ios\": {\"body\": \"x\", \"aps\": \(aps)}}"),
                format: .apns,
                deliveryID: 1,
                messageIDFormat: .uuid
            )
        }
        let fields = (0..<50_000).map { "{{f\($0)}}" }
        let all = "{\"missing\": \"exclude\", \"ios\": {\"body\": \"\(fields.joined())\"}}"
        #expect(try Rendering(all, .apns).template.fields.count == fields.count)
        #expect(throws: TextTemplate.SyntaxError.self) { try TextTemplate("{{#a}}\(fields.joined()){{/a}}") }
        let limit = SectionText.maxPieces - 2
        _ = try TextTemplate("{{#a}}\(fields.prefix(limit).joined()){{/a}}")
        #expect(throws: TextTemplate.SyntaxError.self) {
            try TextTemplate("{{#a}}\(fields.prefix(limit + 1).joined()){{/a}}")
        }
    }

    @Test func randomContentNeverCrashes() {
        var random = TestRandom(seed: TestRandom.seed(for: "content"))
        let pieces = [
            "{", "}", "\"ios\"", "\"android\"", ":", ",", "\"body\"", "\"variables\"", "\"{{a}}\"", "\"{{a\"", "[", "]",
            "1", "true",
            "null", "\"badge\"", "\"priority\"", "-1e999", "\"\\{{\"",
        ]
        for _ in 0..<20_000 {
            let json = (0..<random.below(16)).map { _ in pieces[random.below(pieces.count)] }.joined()
            if let content = try? PushContent(json: json) {
                for format in PayloadFormat.allCases where content.platforms.contains(format.platform) {
                    _ = try? PayloadTemplate.compile(
                        content: content,
                        format: format,
                        deliveryID: 1,
                        messageIDFormat: .uuid
                    )
                }
            }
        }
    }
}
