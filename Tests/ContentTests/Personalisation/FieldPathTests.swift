import Foundation
import Testing

@testable import Content
@testable import PushCore

/// Values inside objects, blank values, and values that are not texts.
@Suite struct FieldPathTests {
    private func body(_ text: String, _ values: [String: String], missing: String = "default") throws -> String {
        let rendering = try Rendering(
            #"{"missing": "\#(missing)", "ios": {"body": "<\#(text)>"}}"#,
            .apns,
            values: values
        )
        let aps = try #require(try rendering.object()["aps"] as? [String: Any])
        return try #require((aps["alert"] as? [String: Any])?["body"] as? String)
    }

    private func missing(_ text: String, _ values: [String: String]) throws -> String? {
        let template = try Rendering(#"{"missing": "exclude", "ios": {"body": "\#(text)"}}"#, .apns).template
        let columns = template.fields.map { ByteColumn([values[$0.name]]) }
        return template.missingField(row: 0, fields: columns).map { template.fields[$0].name }
    }

    private static let order = #"{"id": 7, "of": {"name": "Zoë \"Z\"", "a.b": "dotted"}, "none": null, "list": [1]}"#

    @Test(arguments: [
        ("{{order.id}}", "<7>"), ("{{order.of.name}}", #"<Zoë "Z">"#), ("{{order.of.a.b}}", "<dotted>"),
        ("{{order.none|x}}", "<x>"), ("{{order.what|x}}", "<x>"), ("{{order.id.deeper|x}}", "<x>"),
        ("{{order.list}}", "<[1]>"), ("{{other.id|x}}", "<x>"), ("{{order.|x}}", "<x>"), ("{{order..id|x}}", "<x>"),
        // The same in texts with sections, which use other code.
        ("{{#order.id}}{{order.of.name}}{{/order.id}}", #"<Zoë "Z">"#),
        ("{{#order.what}}a{{/order.what}}{{^order.what}}b{{/order.what}}", "<b>"),
        ("{{#order}}{{of.name}} {{id}} {{order.id}}{{/order}}", #"<Zoë "Z" 7 7>"#),
        ("{{#order}}{{of.what|x}}{{/order}}", "<x>"),
    ])
    func aNameReachesIntoObjects(_ text: String, _ expected: String) throws {
        #expect(try body(text, ["order": Self.order]) == expected)
    }

    @Test func aFieldOfTheWholeNameGoesBefore() throws {
        let values = ["order": Self.order, "order.id": "own"]
        #expect(try body("{{order.id}}", values) == "<own>")
        #expect(try body("{{#order.id}}{{order.id}}{{/order.id}}", values) == "<own>")
        #expect(try body("{{order.id|x}}", ["order": "no object"]) == "<x>")
        let template = try Rendering(#"{"ios": {"body": "{{mapping.city}} {{order.id}}"}}"#, .apns).template
        #expect(template.fields.map(\.name) == ["mapping.city", "order.id", "order"])
    }

    @Test func whatAnObjectLacksIsMissing() throws {
        #expect(try missing("{{order.id}}", ["order": Self.order]) == nil)
        #expect(try missing("{{order.none}}", ["order": Self.order]) == "order.none")
        #expect(try missing("{{order.id}}", [:]) == "order.id")
        #expect(try missing("{{#order.id}}{{order.what}}{{/order.id}}", ["order": Self.order]) == "order.what")
    }

    /// Forms and exports leave such values, and they are no name to greet a person with.
    @Test(arguments: [" ", "\t\n", "\u{A0}", "\u{2003} \u{3000}", "\u{200B}", "\u{FEFF}"])
    func whiteSpaceIsNoValue(_ blank: String) throws {
        #expect(try body("{{a|you}}", ["a": blank]) == "<you>")
        #expect(try body("{{#a}}1{{/a}}{{^a}}2{{/a}}{{a|you}}", ["a": blank]) == "<2you>")
        #expect(try body("{{a|you}}", ["a": blank], missing: "empty") == "<>")
        #expect(try missing("{{a}}", ["a": blank]) == "a")
        #expect(try missing("{{#b}}{{a}}{{/b}}", ["a": blank, "b": "1"]) == "a")
        #expect(try body("{{a|you}}", ["a": "\(blank)x"]) == "<\(blank)x>")
    }

    @Test func valuesOfManyScriptsAreNotBlank() {
        for text in ["a", "é", "Ж", "ש", "中", "あ", "한", "😀", "\u{E2}\u{80}", "0", "\u{2014}"] {
            #expect(!BlankValue.isBlank(text))
        }
        #expect(BlankValue.isBlank(""))
    }

    private func variables(_ json: String, _ values: [String: String], _ format: PayloadFormat = .apns) throws
        -> Rendering
    {
        let platform = format.platform.rawValue
        let shown = format == .apns ? #""body": "x", "# : ""
        return try Rendering(#"{"\#(platform)": {\#(shown)"variables": \#(json)}}"#, format, values: values)
    }

    @Test func aPersonalisedNumberStaysOne() throws {
        let json =
            ##"{"score": {"$number": "{{s}}"}, "won": {"$boolean": "{{w}}"}, "list": [{"$number": "{{s|1}}"}, {"x": {"$number": "{{n}}"}}]}"##
        let full = try variables(json, ["s": " 4.50 ", "w": "t", "n": "-3e2"]).text
        #expect(full.contains(#""score":4.50"#) && full.contains(#""won":true"#), "\(full)")
        #expect(full.contains(#""list":[4.50,{"x":-3e2}]"#), "\(full)")
        // An entry that is not a number is left out; in a list it is null.
        let none = try variables(json, ["s": "many", "w": "maybe", "n": "1,5"])
        #expect(
            !none.text.contains("score") && !none.text.contains("won") && none.text.contains(#""list":[null,{}]"#),
            "\(none.text)"
        )
        _ = try none.object()
    }

    @Test func numbersInContentStatesAndInData() throws {
        let activity = """
            {"ios": {"push_type": "liveactivity", "aps": {"event": "update", "timestamp": 1, \
            "content-state": {"home": {"$number": "{{h}}"}, "away": 2}}}}
            """
        let text = try Rendering(activity, .apns, values: ["h": "3"]).text
        #expect(text.contains(#""content-state":{"away":2,"home":3}"#), "\(text)")
        let data = try variables(
            ##"{"score": {"$number": "{{s}}"}, "deep": {"n": {"$number": "{{s}}"}}}"##,
            ["s": "7"],
            .fcmV1
        )
        let message = try #require(try data.object()["message"] as? [String: Any])
        let entries = try #require(message["data"] as? [String: String])
        #expect(entries["score"] == "7" && entries["deep"] == #"{"n":7}"#, "\(entries)")
    }

    @Test(arguments: [
        (##"{"a": {"$number": "seven"}}"##, "is not a value for $number"),
        (##"{"a": {"$number": 7}}"##, "its value a string"),
        (##"{"a": {"$number": "{{n}}", "b": 1}}"##, "its value a string"),
        (##"{"a": {"$boolean": "yes"}}"##, "is not a value for $boolean"),
    ])
    func wrongFormsAreRefused(_ json: String, _ words: String) {
        let problems = PushContent.validate(json: #"{"ios": {"body": "x", "variables": \#(json)}}"#)
        #expect(problems.contains { $0.cause.contains(words) }, "\(problems)")
    }

    /// A system requested this single message: "Your code is " would be useless.
    @Test func aContinuousDeliverySendsNoMessageWithAGap() throws {
        for (missing, policy) in [("", MissingValuePolicy.exclude), (#""missing": "default", "#, .default)] {
            let content = try PushContent(json: #"{\#(missing)"ios": {"body": "Code {{code}}"}}"#)
            #expect(content.missing == .default)
            #expect(content.ofContinuous.missing == policy)
        }
    }
}
