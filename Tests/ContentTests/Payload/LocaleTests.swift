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

    @Test("A locale finds its variant in whatever form both are written")
    func formsOfLocales() {
        let matcher = LocaleMatcher(["", "he", "in", "zh-CN", "zh-Hant", "sr_RS@latin", "no", "fil-PH", "ro", "sr"])
        for (locale, index) in [
            ("iw-IL", 1), ("he", 1), ("id_ID", 2), ("in-ID", 2), ("zh-CN-#Hans", 3), ("zh-Hans-CN", 3), ("zh_CN", 3),
            ("zh-HK-#Hant", 4), ("zh-TW", 4), ("zh-HK", 4), ("sr-RS-#Latn", 5), ("sr-Latn-RS", 5), ("sr-Cyrl-RS", 9),
            ("nb-NO", 6),
            ("no_NO", 6), ("tl-PH", 7), ("mo", 8), ("ji", 0), ("zh", 0),
        ] {
            #expect(matcher.index(of: Array(locale.utf8)[...]) == index, "\(locale)")
        }
    }

    @Test("A variant inherits from the main content what it does not set")
    func inheritance() throws {
        let main = #"""
            "ios": {"title": "Hi", "subtitle": "s", "body": "b", "badge": 3, "sound": "ding.caf", "category": "SALE", "media_url": "https://a.b/c.png",
                "priority": 5, "relevance_score": 0.2, "variables": {"x": "1", "y": "2"}, "aps": {"alert": {"title": "raw"}, "k": "v"}},
            "android": {"title": "Hi", "body": "b", "image": "https://a.b/c.png", "sound": "ding", "variables": {"x": "1"}}
            """#
        func variant(_ platform: Platform, _ text: String) throws -> ContentSection {
            let content = try PushContent(
                json: #"{\#(main), "locales": {"fr": {"\#(platform.rawValue)": {\#(text)}}}}"#
            )
            return try #require(content.variants(for: platform).last).section
        }
        let fr = try variant(.ios, #""title": "Salut", "badge": null, "variables": {"x": "un"}"#)
        #expect(fr.string("title") == "Salut" && fr.string("subtitle") == "s" && fr.string("sound") == "ding.caf")
        #expect(
            fr.string("category") == "SALE" && fr.number("priority") == "5" && !fr.has("badge") && fr.has("media_url")
        )
        #expect(Set(fr.variables.map(\.name)) == ["x", "y"] && fr.variables.first?.value == .string("un"))
        #expect(fr.object("aps").map(\.name) == ["k"], "raw texts would hide its own")
        let byKey = try variant(.ios, #""title_loc_key": "T", "loc_key": "B", "clear_badge": true"#)
        #expect(!byKey.has("title") && !byKey.has("body") && !byKey.has("badge") && byKey.string("subtitle") == "s")
        let ranked = try variant(.ios, #""relevance_percent": 50"#)
        #expect(ranked.number("relevance_percent") == "50" && !ranked.has("relevance_score"))
        // Another kind of message inherits nothing.
        #expect(try variant(.ios, #""silent": true, "content_available": true"#).entries.count == 2)
        #expect(try variant(.android, #""kind": "data""#).entries.count == 1)
        let android = try variant(.android, #""body": "c""#)
        #expect(
            android.has("image") && android.has("sound") && android.string("title") == "Hi"
                && android.variables.count == 1
        )
        #expect(try variant(.android, #""variables": null"#).variables.isEmpty)
        // What it inherits must be compatible, and the check says where it comes from.
        let problems = PushContent.validate(
            json: #"{\#(main), "locales": {"fr": {"ios": {"mutable_content": false}}}}"#
        )
        #expect(problems.map(\.key) == ["locales.fr.ios.mutable_content"])
        // Two names of one locale.
        let twice = #"{\#(main), "locales": {"iw": {}, "he": {}}}"#
        #expect(PushContent.validate(json: twice).map(\.key) == ["locales.he"])
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
        #expect(template.templates.map(\.attributes.priority) == [5, 5, 5])
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
        #expect(bodies[2].hasPrefix(#"{"aps":{"alert":{"title":"Hi N","body":"N D"},"content-available":1}"#))
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
