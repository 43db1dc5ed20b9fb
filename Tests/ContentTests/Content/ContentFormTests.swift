import Content
import Foundation
import PushCore
import Testing

/// What is typed into a form, and the content that it makes.
@Suite struct ContentFormTests {
    private func form(_ values: [String: String], _ platforms: [Platform] = [.ios, .android]) -> ContentForm {
        ContentForm(values: values, platforms: platforms)
    }

    @Test func whatIsTypedBecomesAContent() {
        let values = [
            "ios.title": "Hi {{name|you}}", "ios.badge": "3", "ios.more": #"{"custom": {"a": 1}}"#,
            "android.title": "Hi", "android.body": "One\nTwo", "locales": "fr", "locales.fr.ios.title": "Salut",
            "missing": "empty",
        ]
        let (json, _) = form(values).content()
        let content = try? JSONValue(parsing: json.utf8)
        guard case .object(let root)? = content else {
            Issue.record("\(json)")
            return
        }
        #expect(root.map(\.name) == ["ios", "android", "locales", "missing"])
        #expect(json.contains(#""title":"Hi {{name|you}}""#) && json.contains(#""badge":3"#))
        #expect(json.contains(#""custom":{"a":1}"#) && json.contains(#""body":"One\nTwo""#))
        // A language says its own title, and takes all else from the content for everybody.
        #expect(json.contains(#""locales":{"fr":{"ios":{"title":"Salut"}}}"#))
    }

    @Test func aContentIsShownAndWrittenUnchanged() throws {
        let json = """
            {"ios":{"title":"Hi","badge":3},"android":{"title":"Hi","body":"b"},"locales":{"fr":{"ios":{"title":"Salut","badge":3},\
            "android":{"title":"Salut","body":"b"}}},"missing":"exclude"}
            """
        let values = ContentForm.values(json: json)
        #expect(values["ios.title"] == "Hi" && values["ios.badge"] == "3" && values["locales"] == "fr")
        #expect(values["locales.fr.android.title"] == "Salut" && values["missing"] == "exclude")
        let written = form(values).content()
        #expect(written.problems.isEmpty, "\(written.problems)")
        #expect(
            Self.sorted(try JSONValue(parsing: written.json.utf8)) == Self.sorted(try JSONValue(parsing: json.utf8))
        )
    }

    /// The order of members means nothing.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        guard case .object(let entries) = value else { return value }
        let inner = entries.map { JSONEntry(name: $0.name, value: sorted($0.value)) }
        return .object(inner.sorted { $0.name < $1.name })
    }

    @Test func problemsNameTheFieldsOfTheForm() {
        let values = [
            "ios.badge": "many", "android.title": "a {{", "ios.more": "[1]", "locales": "fr",
            "locales.fr.ios.more": "{",
        ]
        let keys = form(values).content().problems.map(\.key)
        for key in ["ios.badge", "android.title", "ios.more", "locales.fr.ios.more"] {
            #expect(keys.contains(key), "\(key) in \(keys)")
        }
        // What has a field of its own is said there, and in one place.
        let twice = form(["ios.title": "a", "ios.more": #"{"title": "b"}"#], [.ios]).content()
        #expect(twice.problems.map(\.key) == ["ios.more"] && !twice.json.contains(#""b""#))
    }

    @Test func localesAreBoundedAndDistinct() {
        let many = (0..<20).map { "x\($0)" }.joined(separator: ", ")
        #expect(form(["locales": many]).localeNames.count == ContentForm.mostLocales)
        #expect(form(["locales": " fr,de  fr"]).localeNames == ["fr", "de"])
    }

    /// What the form makes is what messages get, whoever the reader is.
    @Test func noVariantIsMadeThatNoMessageGets() throws {
        func problems(_ locales: String) -> [String] {
            form(["ios.title": "a", "locales": locales], [.ios]).content().problems.map(\.description)
        }
        #expect(problems("fr, zh-CN, sr_RS, fil").isEmpty)
        #expect(problems("fr, german").contains { $0.contains("german") && $0.contains("no message gets") })
        // One of two names of a language would be in vain; of nine languages a form has no more than eight.
        let twice = ["ios.title": "a", "locales": "he iw", "locales.he.ios.title": "b", "locales.iw.ios.title": "c"]
        #expect(form(twice, [.ios]).content().problems.contains { $0.key == "locales.iw" })
        #expect(problems("a1,a2,a3,a4,a5,a6,a7,a8,a9").contains { $0.contains("9 locales") })
        // What nothing is typed for is said, and is no variant.
        let one = form(["ios.title": "a", "locales": "fr de", "locales.fr.ios.title": "b"], [.ios])
        #expect(one.emptyLocales == ["de"] && one.content().problems.isEmpty)
    }

    /// A title that is typed takes the place of one by key, and null takes away, in a draft that begins with a template, too.
    @Test func variantsOfTheFormInheritByTheRuleOfContents() throws {
        let json = """
            {"ios":{"title_loc_key":"T","body":"b","subtitle":"s","badge":3},\
            "locales":{"fr":{"ios":{"title":"Salut","subtitle":null}},"de":{"ios":{"body":"d"}}}}
            """
        let written = form(ContentForm.values(json: json), [.ios]).content()
        #expect(written.problems.isEmpty, "\(written.problems)")
        func payload(_ json: String, _ locale: String) throws -> String {
            try LocalisedTemplate.compile(
                content: try PushContent(json: json),
                format: PayloadFormat(connector: .iosHTTP2),
                deliveryID: 1,
                messageIDFormat: .uuid
            ).sample(values: [:], locale: locale).payload.compactText
        }
        for locale in ["", "fr", "fr-CA", "de-AT", "it"] {
            #expect(try payload(written.json, locale) == payload(json, locale), "\(locale)")
        }
        let french = try payload(written.json, "fr-CA")
        #expect(french.contains("Salut") && !french.contains("title-loc-key") && !french.contains("subtitle"))
    }

    @Test func everyFieldHasANameOfItsOwn() {
        for platform in Platform.allCases {
            let keys = ContentField.fields(platform).map(\.key)
            #expect(Set(keys).count == keys.count && keys.contains("title") && keys.last == ContentField.rest)
        }
    }

    @Test func aSampleIsRenderedAsMessagesAre() throws {
        let template = try LocalisedTemplate.compile(
            content: try PushContent(
                json: form(["ios.title": "Hi {{name}}", "missing": "exclude"], [.ios]).content().json
            ),
            format: PayloadFormat(connector: .iosHTTP2),
            deliveryID: 1,
            messageIDFormat: .uuid
        )
        let sample = template.sample(values: ["name": "Ada"], locale: "")
        #expect(sample.payload.compactText.contains("Hi Ada") && sample.missingField == nil)
        #expect(sample.limit == 4096 && sample.size > 20 && sample.size <= sample.limit)
        #expect(template.sample(values: [:], locale: "").missingField == "name")
    }
}
