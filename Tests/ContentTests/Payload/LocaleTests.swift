import Testing

@testable import Content
@testable import PushCore

@Suite struct LocaleTests {
    @Test(arguments: [
        ("", 0), ("de", 0), ("fr", 1), ("FR", 1), ("fr-FR", 1), ("fr_fr", 1), ("fr-CA", 2), ("fr_CA", 2),
        ("fr-ca-x", 2),
        ("fr_CA.UTF-8", 2), ("frx", 0), ("f", 0), ("-", 0), ("zh", 0), ("zh-Hant", 3), ("zh_hant_TW", 3),
        ("zh-Hans-CN", 0),
        ("zh-Hant-#x", 3), (String(repeating: "fr-", count: 100), 0),
    ])
    func bestLocale(locale: String, index: Int) {
        let matcher = LocaleMatcher(["", "fr", "fr_CA", "zh-Hant"])
        #expect(matcher.index(of: Array(locale.utf8)[...]) == index, "\(locale)")
    }

    @Test func templatesHaveOneListOfFields() throws {
        let content = try PushContent(
            json: #"""
                {"ios": {"title": "Hi {{name}}", "body": "{{city}}", "priority": 5},
                 "android": {"body": "{{x}}"},
                 "locales": {"fr": {"ios": {"title": "Salut {{prenom|toi}}", "body": "{{city}}"}},
                             "pt-BR": {"ios": {"body": "{{name}} {{cidade}}", "content_available": true}, "android": {"body": "pt"}}}}
                """#
        )
        #expect(content.locales == ["fr", "pt-BR"])
        #expect(content.platforms == [.ios, .android])
        let template = try LocalisedTemplate.compile(
            content: content,
            format: .apns,
            deliveryID: 16,
            messageIDFormat: .uuid
        )
        #expect(template.isLocalised)
        #expect(template.locales == ["", "fr", "pt-BR"])
        #expect(template.fields.map(\.name) == ["name", "city", "prenom", "cidade"])
        #expect(template.templates.allSatisfy { $0.fields == template.fields })
        #expect(template.templates.map(\.attributes.priority) == [5, nil, nil])
        let columns = [ByteColumn(["N"]), ByteColumn(["C"]), ByteColumn([nil]), ByteColumn(["D"])]
        let bodies = template.templates.map { one in
            var body: [UInt8] = []
            one.render(
                row: 0,
                fields: columns,
                tokens: ByteColumn(["t"]),
                messageID: Rendering.uuid,
                sequence: 0,
                into: &body
            )
            return String(decoding: body, as: UTF8.self)
        }
        #expect(bodies[0].hasPrefix(#"{"aps":{"alert":{"title":"Hi N","body":"C"}}"#))
        #expect(bodies[1].hasPrefix(#"{"aps":{"alert":{"title":"Salut toi","body":"C"}}"#))
        #expect(bodies[2].hasPrefix(#"{"aps":{"alert":{"body":"N D"},"content-available":1}"#))
        #expect(template.index(locale: Array("pt_BR".utf8)[...]) == 2)

        let android = try LocalisedTemplate.compile(
            content: content,
            format: .fcmV1,
            deliveryID: 16,
            messageIDFormat: .uuid
        )
        #expect(android.locales == ["", "pt-BR"])
        let french = try PayloadTemplate.compile(
            content: content,
            format: .apns,
            deliveryID: 16,
            messageIDFormat: .uuid,
            locale: "fr-BE"
        )
        #expect(french.fields.map(\.name) == ["prenom", "city"])
    }

    @Test func problemsOfAllLocales() throws {
        let long = String(repeating: "x", count: 4_100)
        let content = try PushContent(
            json:
                #"{"ios": {"body": "\#(long)"}, "locales": {"fr": {"ios": {"body": "\#(long)"}}, "de": {"ios": {"body": "x"}}}}"#
        )
        let error = #expect(throws: ContentError.self) {
            try LocalisedTemplate.compile(content: content, format: .apns, deliveryID: 1, messageIDFormat: .uuid)
        }
        #expect(error?.problems.map(\.key) == ["ios", "locales.fr.ios"])
    }

    @Test func oneLocaleOnly() throws {
        let content = try PushContent(json: #"{"android": {"kind": "data"}}"#)
        let template = try LocalisedTemplate.compile(
            content: content,
            format: .fcmLegacy,
            deliveryID: 1,
            messageIDFormat: .uuid
        )
        #expect(!template.isLocalised)
        #expect(template.index(locale: Array("fr".utf8)[...]) == 0)
        #expect(throws: ContentError.self) {
            try LocalisedTemplate.compile(content: content, format: .apns, deliveryID: 1, messageIDFormat: .uuid)
        }
    }
}
