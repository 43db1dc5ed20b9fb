import Testing

@testable import Content
@testable import PushCore

@Suite struct SectionTests {
    private func body(_ text: String, _ values: [String: String] = [:]) throws -> String? {
        let escaped = String(decoding: JSONText.escaped(Array(text.utf8)), as: UTF8.self)
        let rendering = try Rendering(#"{"ios": {"body": "x\#(escaped)"}}"#, .apns, values: values)
        let aps = try rendering.object()["aps"] as? [String: Any]
        return (aps?["alert"] as? [String: String])?["body"].map { String($0.unicodeScalars.dropFirst()) }
    }

    @Test(arguments: ["true", "1", "yes", "0.0", "{", "[x"])
    func valuesThatAreTrue(value: String) throws {
        #expect(try body("{{#vip}}yes{{/vip}}{{^vip}}no{{/vip}}", ["vip": value]) == "yes")
    }

    @Test(arguments: [nil, "", "false", "0", "[]", "{}"])
    func valuesThatAreFalse(value: String?) throws {
        #expect(try body("{{#vip}}yes{{/vip}}{{^vip}}no{{/vip}}", value.map { ["vip": $0] } ?? [:]) == "no")
    }

    @Test func listsAndObjects() throws {
        let text = "{{#cart}}{{title}} {{price|free}}{{#gift}} ({{from}}){{/gift}};{{/cart}}{{^cart}}empty{{/cart}}"
        let cart = #"[{"title": "Shoe", "price": 1.50}, {"title": "<b>&\"", "gift": true}, {"title": null}, 5]"#
        #expect(
            try body(text, ["cart": cart, "from": "Ann", "title": "outer"])
                == "Shoe 1.50;<b>&\" free (Ann); free;outer free;"
        )
        #expect(try body(text) == "empty")
        #expect(
            try body("{{#home}}{{city}}, {{land}}{{/home}}", ["home": #"{"city": "Bern"}"#, "land": "CH"]) == "Bern, CH"
        )
        #expect(try body("{{#tags}}<{{.}}>{{/tags}}", ["tags": #"["a", 1, true, null, [1]]"#]) == "<a><1><true><><[1]>")
        #expect(try body("{{#name}}Hi {{.}}{{/name}}", ["name": "Eve"]) == "Hi Eve")
    }

    @Test func namesAndTextsThatMustacheWouldMisread() throws {
        #expect(try body("{{#a.b (c)}}{{ a.b (c) }}{{/a.b (c)}}", ["a.b (c)": "v"]) == "v")
        #expect(try body("{{#a}}\u{301}{{{a}}}}}{{/a}} {", ["a": "v"]) == "\u{301}v}} {")
        #expect(try body("{{#a}}\\{{x}}{{/a}}  \n  ", ["a": "v"]) == "{{x}}  \n  ")
        #expect(try body("{{#a}}{{! {{ }}x{{& a | d}}{{/a}}", ["a": "{{b}}"]) == "x{{b}}")
        #expect(try body("{{#a}}{{b|{{}}{{/a}}", ["a": "1"]) == "{{")
    }

    /// If a section's tag is alone on a line, the line is removed.
    @Test func linesOfTagsVanish() throws {
        #expect(try body("one\n{{#a}}\ntwo\n{{/a}}\nthree", ["a": "1"]) == "one\ntwo\nthree")
        let long = String(repeating: "long ", count: 20)
        #expect(try body("\(long)\n {{#a}} \n\(long)\n  {{/a}}\n\(long)", ["a": "1"]) == "\(long)\n\(long)\n\(long)")
        #expect(try body("\(long)\n {{#a}}x{{/a}} \n ", ["a": "1"]) == "\(long)\n x \n ")
    }

    @Test(arguments: [
        "{{#a}}", "{{/a}}", "{{#a}}{{/b}}", "{{#a}}{{#b}}{{/a}}{{/b}}", "{{#}}{{/}}", "{{#.}}{{/.}}", "{{.}}", "{{>a}}",
        "{{=<% %>=}}",
        "{{<a}}{{/a}}", "{{$a}}{{/a}}", "{{%a}}", "{{#a}}{{.}}{{/a}}{{.}}", "{{{a}}",
    ])
    func mistakes(text: String) {
        #expect(throws: TextTemplate.SyntaxError.self) { try TextTemplate(text) }
    }

    @Test func deepNestingIsRefused() throws {
        let open = (0..<17).map { "{{#a\($0)}}" }.joined()
        let close = (0..<17).reversed().map { "{{/a\($0)}}" }.joined()
        #expect(throws: TextTemplate.SyntaxError.self) { try TextTemplate(open + close) }
        _ = try TextTemplate(String(open.dropFirst(7)) + String(close.dropLast(7)))
    }

    /// The cost of a list nested in itself would grow as a power of its length.
    @Test func whatIsTooLongForAnyPayloadIsCutAndRefused() throws {
        let text = (0..<12).map { _ in "{{#l}}" }.joined() + "{{.}} and more" + (0..<12).map { _ in "{{/l}}" }.joined()
        let list = "[" + (0..<500).map(String.init).joined(separator: ",") + "]"
        let rendering = try Rendering(#"{"ios": {"body": "\#(text)"}}"#, .apns, values: ["l": list])
        #expect(rendering.size > PayloadLimits.voip)
        #expect(rendering.body.count < 10_000_000)
        _ = try rendering.object()
    }

    @Test func sectionsInEveryPlace() throws {
        let content = """
            {"android": {"title": "{{#a}}A{{a}}{{/a}}", "ttl_seconds": "{{#a}}60{{/a}}{{^a}}x{{/a}}",
            "variables": {"o": {"k": "{{#a}}\\"{{a}}\\"{{/a}}"}}}}
            """
        let rendering = try Rendering(content, .fcmV1, values: ["a": "\"\\"])
        let message = try #require(try rendering.object()["message"] as? [String: Any])
        let android = try #require(message["android"] as? [String: Any])
        #expect(android["ttl"] as? String == "60s")
        #expect((android["notification"] as? [String: String])?["title"] == "A\"\\")
        #expect((message["data"] as? [String: String])?["o"] == #"{"k":"\"\"\\\""}"#)
        #expect(!(try Rendering(content, .fcmV1)).text.contains("ttl"))
        let collapse = try Rendering(#"{"ios": {"body": "x", "collapse_id": "{{#a}}c{{a}}{{/a}}"}}"#, .apns)
        var id: [UInt8] = []
        #expect(collapse.template.renderCollapseID(row: 0, fields: [ByteColumn(["7"])], into: &id))
        #expect(id == Array("c7".utf8))
        id = []
        #expect(!collapse.template.renderCollapseID(row: 0, fields: [ByteColumn([nil])], into: &id))
    }
}
