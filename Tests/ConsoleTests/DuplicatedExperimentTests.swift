import Content
import PushCore
import TestSupport
import Testing

@testable import Console
@testable import Store

/// Whatever the composer writes about variants, a duplicate reads back.
@Suite struct DuplicatedExperimentTests {
    private static let words = ["", "Hi", "Hello", "Bonjour"]

    private func composed(_ fields: [String: String], _ platforms: [Platform]) -> ComposedDraft {
        ComposedDraft(
            draft: ConsoleDraft(
                id: 1,
                owner: "mia",
                label: "Sale",
                applications: platforms.map(\.rawValue),
                fields: fields,
                version: 1,
                deliveryID: nil,
                changedAt: DatabaseTime(microsecondsSince1970: 0)
            ),
            offered: platforms.map { platform in
                ApplicationRow(
                    id: 1,
                    serviceID: 1,
                    name: platform.rawValue,
                    label: "",
                    platform: platform,
                    environment: .production,
                    integrationKey: "key",
                    bundleID: "com.shop",
                    messageIDFormat: .uuid,
                    accountID: nil,
                    credentialID: nil,
                    variables: "[]"
                )
            },
            services: [:],
            connectors: [:],
            allCategories: [],
            zones: [],
            serviceZones: [:],
            obstacles: [:]
        )
    }

    /// Texts that may be the same or not on both platforms, in each language and variant, or empty.
    private func randomDraft(_ random: inout TestRandom, _ platforms: [Platform]) -> [String: String] {
        let locales = [[], ["fr"], ["fr", "de"]][random.below(3)]
        var fields: [String: String] = ["experiment.hours": "4"]
        if !locales.isEmpty { fields[ContentForm.locales] = locales.joined(separator: ", ") }
        func type(_ name: String) {
            let text = Self.words[random.below(Self.words.count)]
            if !text.isEmpty { fields[name] = text }
        }
        let variants = 2 + random.below(3)
        for number in 1...variants { fields[ExperimentForm.Name.percent(number)] = "20" }
        for locale in [nil] + locales.map(Optional.some) {
            for (key, _) in ExperimentForm.texts {
                let place = locale.map { "locales.\($0)." } ?? ""
                for platform in platforms { type("\(place)\(platform.rawValue).\(key)") }
                for number in 2...variants { type(ExperimentForm.Name.text(number, key, locale)) }
            }
        }
        return fields
    }

    /// Whether a variant's text is what the content says on each platform, so that the field may as well be empty.
    private func saysTheSame(_ name: String, _ fields: [String: String], _ platforms: [Platform]) -> Bool {
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count > 2, parts[0] == "experiment", ExperimentForm.texts.contains(where: { $0.key == parts[2] })
        else { return false }
        let path = parts.count > 3 ? "locales.\(parts[3])." : ""
        return platforms.allSatisfy { fields["\(path)\($0.rawValue).\(parts[2])"] == fields[name] }
    }

    private func rule(_ composed: ComposedDraft) throws -> ExperimentRule {
        try #require(try ExperimentForm(composed: composed, catalogue: .english).rule())
    }

    @Test func whatIsComposedIsDuplicated() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "experiments"))
        for _ in 0..<500 {
            let platforms: [Platform] = [[.ios], [.android], [.ios, .android]][random.below(3)]
            let fields = randomDraft(&random, platforms)
            let draft = composed(fields, platforms)
            let (content, rule) = (draft.form.content().json, try rule(draft))
            let settings = JSONValue.object([JSONEntry(name: "experiment", value: rule.json)]).compactText
            let original = try #require(DuplicatedExperiment(settings: settings))
            let copy = try #require(original.draft(of: content, Set(platforms)), "\(fields)")
            var again = ComposedDraft.fields(content: copy.content, settings: "{}", TemplateTarget(applications: []))
            again.merge(copy.fields) { _, new in new }
            let same = fields.filter { !saysTheSame($0.key, fields, platforms) }
            for (name, text) in same { #expect(again[name] == text, "\(name) of \(fields)") }
            let second = composed(again, platforms)
            #expect(second.form.content().json == content, "\(fields)")
            #expect(try self.rule(second).variants == rule.variants, "\(fields)")
        }
    }

    /// Other systems give each variant a content, also the first one.
    @Test func theFirstVariantBecomesTheContent() throws {
        let (own, first, second) = (
            #"{"ios":{"title":"Hi"}}"#, #"{"ios":{"title":"Yo","badge":3}}"#, #"{"ios":{"title":"Salut","badge":3}}"#
        )
        func draft(_ variants: [String]) throws -> (content: String, fields: [String: String])? {
            let objects = variants.map { #"{"percent": 50, "content": \#($0)}"# }.joined(separator: ", ")
            let settings = #"{"experiment": {"variants": [\#(objects)]}}"#
            return try #require(DuplicatedExperiment(settings: settings)).draft(of: own, [.ios])
        }
        let copy = try #require(try draft([first, second]))
        #expect(ContentForm.values(json: copy.content) == ContentForm.values(json: first))
        #expect(copy.fields["experiment.2.title"] == "Salut" && copy.fields["experiment.2.percent"] == "50")
        let refused = try draft([own, second])
        #expect(refused?.content == nil, "A draft cannot change a badge in a variant")
    }
}
