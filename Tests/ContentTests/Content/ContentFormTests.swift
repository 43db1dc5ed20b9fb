import Foundation
import TestSupport
import Testing

@testable import Content
@testable import PushCore

/// Typed values of a form, and the resulting content.
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
        // A locale sets its own title, and inherits everything else.
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

    @Test func aCriticalAlertHasFields() throws {
        let json =
            #"{"ios":{"title":"Hi","sound":{"name":"siren.caf","critical":true,"volume":80},"relevance_percent":70}}"#
        let values = ContentForm.values(json: json)
        let typed = [
            "ios.title": "Hi", "ios.sound": "siren.caf", "ios.sound.critical": "true", "ios.sound.volume": "80",
            "ios.relevance_percent": "70",
        ]
        #expect(values == typed)
        let written = form(typed, [.ios]).content()
        #expect(written.problems.isEmpty && written.json.contains(#""sound":{"name":"siren.caf","critical":true,"#))
        #expect(try JSONValue(parsing: written.json.utf8).isSame(as: try JSONValue(parsing: json.utf8)))
        // A sound with only a name is a text.
        #expect(form(["ios.sound": "default"], [.ios]).content().json == #"{"ios":{"sound":"default"}}"#)
        // Problems are reported with the names of the fields; the name's field is that of the sound itself.
        let wrong = form(["ios.sound.critical": "true", "ios.sound.volume": "101"], [.ios]).content()
        #expect(wrong.problems.map(\.key) == ["ios.sound.volume", "ios.sound.name"])
        let volume = form(["ios.sound": "a.caf", "ios.sound.volume": "5"], [.ios]).content().problems
        #expect(volume.map(\.key) == ["ios.sound.volume"])
    }

    /// Every template of the SDK has fields, each with a unique name.
    @Test(arguments: Platform.allCases) func templatesHaveFields(platform: Platform) throws {
        let templates = platform == .ios ? RichTemplateTests.iOS : RichTemplateTests.android
        for (template, _) in templates {
            let json = #"{"\#(platform.rawValue)":{"title":"T","body":"B","template":\#(template)}}"#
            let values = ContentForm.values(json: json)
            #expect(!values.keys.contains { $0.hasSuffix(ContentField.rest) }, "\(template)")
            let form = form(values, [platform])
            let type = try #require(form.templateType(platform))
            let (fields, lists) = ContentField.template(platform, type: type)
            let names = fields.map(\.key) + lists.flatMap { $0.rows.joined().map(\.key) }
            let typed = values.keys.filter { $0.contains(".template.") && !$0.hasSuffix("template.type") }
            #expect(Set(names).count == names.count)
            #expect(typed.allSatisfy { names.contains(String($0.dropFirst(platform.rawValue.count + 1))) })
            let written = form.content()
            #expect(written.problems.isEmpty, "\(template): \(written.problems)")
            #expect(try JSONValue(parsing: written.json.utf8).isSame(as: try JSONValue(parsing: json.utf8)))
        }
        let field = try #require(ContentField.templateType(platform))
        #expect(field.input == .choice(RichTemplateKind.all(platform).map(\.rawValue)))
        #expect(ContentField.template(platform, type: "none").fields.isEmpty)
    }

    @Test func rowsOfATemplateKeepTheirPlaces() {
        var values = [
            "ios.title": "T", "ios.body": "B", "ios.template.type": "carousel", "ios.template.items[0].image": "a",
            "ios.template.items[2].image": "c",
        ]
        let gap = form(values, [.ios]).content()
        #expect(gap.problems.map(\.key) == ["ios.template.items[1].image"])
        values["ios.template.items[1].image"] = "b"
        // A type with other keys uses nothing that was typed for this one.
        #expect(form(values, [.ios]).content().problems.isEmpty)
        values["ios.template.type"] = "basic"
        #expect(form(values, [.ios]).content().json.contains(#""template":{"type":"basic"}}"#))
        values["ios.template.type"] = ""
        #expect(!form(values, [.ios]).content().json.contains("template"))
    }

    /// A locale translates a template's texts; everything else in it comes from the main content.
    @Test func aTemplateIsTranslatedInFields() throws {
        func json(_ items: String) -> String {
            """
            {"ios":{"title":"T","body":"B","template":{"type":"carousel","mode":"auto","items":[{"image":"1","text":"One"},\
            {"image":"2"}]}},"locales":{"fr":{"ios":{"template":{"type":"carousel","mode":"auto","items":\(items)}}}}}
            """
        }
        let french = json(#"[{"image":"1","text":"Un"},{"image":"2","text":"Deux"}]"#)
        let values = ContentForm.values(json: french)
        let own = values.filter { $0.key.hasPrefix("locales.fr") }
        let items = "locales.fr.ios.template.items"
        #expect(own == ["\(items)[0].text": "Un", "\(items)[1].text": "Deux"])
        let written = form(values, [.ios]).content()
        #expect(written.json == french && written.problems.isEmpty, "\(written.json)")
        // A locale with images of its own has no fields for them, but keeps them.
        let shorter = json(#"[{"image":"1"},{"image":"2"}]"#)
        let kept = ContentForm.values(json: shorter)
        #expect(kept["locales.fr.ios.more"] != nil && form(kept, [.ios]).content().json == shorter)
        let wrong = form(values.merging(["locales.fr.ios.template.mode": "fast"]) { $1 }, [.ios]).content().problems
        #expect(wrong.map(\.key) == ["locales.fr.ios.template.mode"])
    }

    /// A value that no field could give back stays JSON.
    @Test(arguments: [
        (
            #"{"ios":{"template":{"type":"carousel","items":[{"image":"1"},{"image":"2"},{"image":"3"},{"image":"4"},{"image":"5"},{"image":"6"}]}}}"#,
            "ios.more"
        ),
        (#"{"ios":{"template":{"type":"unheard","x":1}}}"#, "ios.more"),
        (#"{"ios":{"sound":{"name":"a","unheard":1}}}"#, "ios.more"),
        (#"{"ios":{"title":"one\ntwo"}}"#, "ios.more"),
        (#"{"ios":{"loc_args":["a",""]}}"#, "ios.more"),
        (#"{"ios":{"title":"T"},"locales":{"fr":{"ios":{"badge":null,"subtitle":""}}}}"#, "locales.fr.ios.more"),
    ])
    func whatNoFieldCanShowStays(json: String, place: String) {
        let values = ContentForm.values(json: json)
        #expect(values[place] != nil, "\(values)")
        #expect(form(values, [.ios]).content().json == json)
    }

    @Test func everyContentComesBackAsItWas() throws {
        let seed = TestRandom.seed(for: "content form")
        var generator = ContentGenerator(random: TestRandom(seed: seed))
        for _ in 0..<TestCases.count(300) {
            let content = generator.content()
            guard case .object(let root) = content else { continue }
            let platforms = Platform.allCases.filter { platform in root.contains { $0.name == platform.rawValue } }
            let json = content.compactText
            let written = form(ContentForm.values(json: json), platforms).content().json
            #expect(
                Self.plain(try JSONValue(parsing: written.utf8)).isSame(as: Self.plain(content)),
                "seed \(seed): \(json) became \(written)"
            )
        }
    }

    /// The content in its simplest form: a sound with only a name becomes a text, and an empty platform of a locale is
    /// removed.
    private static func plain(_ content: JSONValue) -> JSONValue {
        guard case .object(let entries) = content else { return content }
        return .object(
            entries.map { entry in
                switch (entry.name, entry.value) {
                case ("sound", .object(let sound)) where sound.count == 1 && sound[0].name == "name":
                    return JSONEntry(name: "sound", value: sound[0].value)
                case ("locales", .object(let locales)):
                    let plain = locales.map { locale -> JSONEntry in
                        guard case .object(let sections) = Self.plain(locale.value) else { return locale }
                        return JSONEntry(name: locale.name, value: .object(sections.filter { $0.value != .object([]) }))
                    }
                    return JSONEntry(name: "locales", value: .object(plain))
                case ("ios", let section), ("android", let section):
                    return JSONEntry(name: entry.name, value: Self.plain(section))
                default: return entry
                }
            }
        )
    }

    /// The order of members does not matter.
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
        // A key with its own field must be set only there.
        let twice = form(["ios.title": "a", "ios.more": #"{"title": "b"}"#], [.ios]).content()
        #expect(twice.problems.map(\.key) == ["ios.more"] && !twice.json.contains(#""b""#))
    }

    @Test func localesAreBoundedAndDistinct() {
        let many = (0..<20).map { "x\($0)" }.joined(separator: ", ")
        #expect(form(["locales": many]).localeNames.count == ContentForm.maxLocales)
        #expect(form(["locales": " fr,de  fr"]).localeNames == ["fr", "de"])
    }

    /// Messages get what the form shows, for every reader.
    @Test func noVariantIsMadeThatNoMessageGets() throws {
        func problems(_ locales: String) -> [String] {
            form(["ios.title": "a", "locales": locales], [.ios]).content().problems.map(\.description)
        }
        #expect(problems("fr, zh-CN, sr_RS, fil").isEmpty)
        #expect(problems("fr, german").contains { $0.contains("german") && $0.contains("no message gets") })
        // Of two names for one locale, one would never be used; and a form has room for only eight locales.
        let twice = ["ios.title": "a", "locales": "he iw", "locales.he.ios.title": "b", "locales.iw.ios.title": "c"]
        #expect(form(twice, [.ios]).content().problems.contains { $0.key == "locales.iw" })
        #expect(problems("a1,a2,a3,a4,a5,a6,a7,a8,a9").contains { $0.contains("9 locales") })
        // A locale without typed values is reported, and is not a variant.
        let one = form(["ios.title": "a", "locales": "fr de", "locales.fr.ios.title": "b"], [.ios])
        #expect(one.emptyLocales == ["de"] && one.content().problems.isEmpty)
    }

    /// A typed title replaces one by key, and null removes a key, also in a draft that starts from a template.
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

    /// A form has no columns for further locales, but does not lose them.
    @Test func manyLocalesStay() throws {
        let variants = (10..<22).map { #""x\#($0)":{"ios":{"title":"\#($0)"}}"# }.joined(separator: ",")
        let json = #"{"ios":{"title":"T"},"locales":{\#(variants)}}"#
        let values = ContentForm.values(json: json)
        #expect(form(values, [.ios]).localeNames.count == ContentForm.maxLocales)
        let written = form(values, [.ios]).content()
        #expect(written.json == json && written.problems.isEmpty)
        // A platform that the delivery does not go to is left out.
        #expect(!form(values, [.android]).content().json.contains("title"))
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
