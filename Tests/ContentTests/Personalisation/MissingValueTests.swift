import Testing

@testable import Content
@testable import PushCore

@Suite struct MissingValueTests {
    private func rendering(_ policy: String, _ body: String, _ values: [String: String]) throws -> Rendering {
        try Rendering(#"{"missing": "\#(policy)", "ios": {"body": "\#(body)"}}"#, .apns, values: values)
    }

    private func missing(_ rendering: Rendering, _ values: [String: String]) -> String? {
        let template = rendering.template
        let columns = template.fields.map { ByteColumn([values[$0.name]]) }
        return template.missingField(row: 0, fields: columns).map { template.fields[$0].name }
    }

    @Test func defaultAndEmpty() throws {
        #expect(try rendering("default", "<{{a|d}}{{b}}>", [:]).text.contains("<d>"))
        #expect(try rendering("empty", "<{{a|d}}{{b}}>", [:]).text.contains("<>"))
        #expect(try rendering("default", "<{{#c}}{{a|d}}{{/c}}>", ["c": "1"]).text.contains("<d>"))
        #expect(try rendering("empty", "<{{#c}}{{a|d}}{{/c}}>", ["c": "1"]).text.contains("<>"))
        #expect(missing(try rendering("default", "{{a}}", [:]), [:]) == nil)
        #expect(missing(try rendering("empty", "{{a}}", [:]), [:]) == nil)
    }

    @Test(
        arguments: [
            ("{{a}}", [:], "a"), ("{{a}}", ["a": ""], "a"), ("{{a}}", ["a": "x"], nil), ("{{a|d}}", [:], nil),
            ("{{a|}}", [:], nil),
            ("{{a|d}} {{a}}", [:], "a"), ("{{a}} {{b}}", ["a": "x"], "b"),
            // A condition may be missing, and so may a field in a section that is not shown.
            ("{{#c}}{{a}}{{/c}}", [:], nil), ("{{#c}}{{a}}{{/c}}", ["c": "1"], "a"), ("{{^c}}{{a}}{{/c}}", [:], "a"),
            ("{{#c}}{{a|d}}{{/c}}", ["c": "1"], nil), ("{{#l}}{{a}}{{/l}}", ["l": #"[{"a": ""}]"#], nil),
            ("{{#l}}{{a}}{{/l}}", ["l": #"[{"b": ""}]"#], "a"),
        ] as [(String, [String: String], String?)]
    )
    func exclude(body: String, values: [String: String], field: String?) throws {
        #expect(missing(try rendering("exclude", body, values), values) == field, "\(body)")
    }

    @Test func everyPlaceCounts() throws {
        for entry in [
            #""collapse_id": "{{a}}""#, #""badge": "{{a}}""#, #""variables": {"x": ["{{a}}"]}"#,
            #""aps": {"y": "{{a}}"}"#,
        ] {
            let rendering = try Rendering(#"{"missing": "exclude", "ios": {"body": "x", \#(entry)}}"#, .apns)
            #expect(missing(rendering, [:]) == "a", "\(entry)")
            #expect(missing(rendering, ["a": "1"]) == nil, "\(entry)")
        }
        #expect(PayloadTemplate.missingReason(field: "a") == "missing_value: a")
    }
}
