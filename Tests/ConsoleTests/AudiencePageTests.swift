import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Saved audiences, in their pages and in the composer, and the control group of a service.
@Suite struct AudiencePageTests {
    private static let german = "locale = 'de'"
    private static let list = "/services/audiences?service=shop"
    private static let one = "/services/audience?service=shop&name=german"

    /// A site with forty subscribers, half of them German.
    private func site() async throws -> ConsoleSite {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(40)
        try await site.sql(
            "UPDATE pushmta_engine.subscription SET locale = CASE WHEN id % 2 = 0 THEN 'de' ELSE 'fr' END"
        )
        return site
    }

    @Test func anAudienceIsMadeCountedChangedAndDeleted() async throws {
        let site = try await site()
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.get("/services").text.contains("/services/audiences?service"))
        #expect(try await mia.get(Self.list).text.contains("There is no saved audience yet."))
        let form = ["name": "german", "filter": Self.german]
        for (name, filter) in [("", Self.german), ("german", ""), ("german", "locale =")] {
            let refused = try await mia.post(
                "/services/audiences/new?service=shop",
                form: ["name": name, "filter": filter]
            )
            #expect(refused.status == .unprocessableContent, "\(name) \(filter)")
        }
        let added = try await mia.post("/services/audiences/new?service=shop", form: form)
        #expect(added.headers[.location] == Self.one + "&done=save", "\(added.text)")
        let again = try await mia.post("/services/audiences/new?service=shop", form: form)
        #expect(again.status == .unprocessableContent && again.text.contains("An audience with this name exists"))
        let page = try await mia.get(Self.one).text
        for words in ["locale is de", "not counted yet", "user mia", "There are none to show."] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(try await mia.post(Self.one, form: ["go": "count"]).headers[.location] == Self.one + "&done=count")
        #expect(try await mia.get(Self.one).text.contains("being counted"))
        #expect(try await site.admin.countAskedAudience())
        let counted = try await mia.get(Self.one).text
        #expect(counted.contains("<bdi>20</bdi>") && counted.contains("href=\"/subscribers/"), "\(counted)")
        let wrong = try await mia.post(Self.one, form: ["go": "save", "filter": "locale ="])
        #expect(wrong.status == .unprocessableContent && wrong.text.contains("locale ="))
        let saved = try await mia.post(Self.one, form: ["go": "save", "filter": "locale = 'fr' or locale is null"])
        #expect(saved.headers[.location] == Self.one + "&done=save")
        let all = try await mia.get(Self.list).text
        #expect(all.contains("One of these is true: locale is fr; locale"), "\(all)")
        #expect(
            try await mia.get("/services/audience/delete?service=shop&name=german").text.contains(
                "Delete this audience?"
            )
        )
        #expect(try await mia.post("/services/audience/delete?service=shop&name=german").status == .seeOther)
        #expect(try await mia.get(Self.one).status == .notFound)
        #expect(try await mia.get("/services/audiences?service=nowhere").status == .notFound)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("saved an audience") && audit.contains("deleted an audience"))
        await site.close()
    }

    private func save(_ browser: ConsoleBrowser, _ draft: String, _ form: [String: String]) async throws
        -> ConsoleAnswer
    {
        let page = try await browser.get("\(draft)/target").text
        let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        return try await browser.post("\(draft)/target", form: form.merging(["version": version]) { own, _ in own })
    }

    @Test func aDraftTakesASavedAudienceAndSavesItsFilter() async throws {
        let site = try await site()
        try await site.admin.addTemplate(
            name: "sale",
            label: "",
            content: #"{"ios": {"title": "Hello"}}"#,
            settings: "{}",
            target: TemplateTarget(applications: ["shop-ios"])
        )
        let mia = try await site.session(.marketing, name: "mia")
        let begun = try await mia.post("/compose", form: ["label": "Sale", "template": "sale"])
        let draft = try #require(begun.headers[.location]).replacing("/applications", with: "")
        let kept = try await save(
            mia,
            draft,
            ["filter": Self.german, "audience_name": "german", "go": "keep"]
        )
        #expect(kept.headers[.location] == "\(draft)/target?saved=1", "\(kept.text)")
        #expect(try await site.admin.audiences().map(\.filter) == [Self.german])
        #expect(try await mia.get("\(draft)/target").text.contains("copied from the saved audience german"))
        // Another filter is no longer the audience's, and does not replace it by accident.
        _ = try await save(mia, draft, ["filter": "locale = 'fr'", "go": "stay"])
        #expect(try await !mia.get("\(draft)/target").text.contains("copied from the saved audience"))
        // A mistake stands at its field, the form keeps what was typed, and the draft is saved as with the other buttons.
        for (name, filter, words) in [
            ("german", "locale = 'es'", Catalogue.english[.audienceExists]),
            ("", "locale = 'it'", Catalogue.english[.nameMissing]),
            ("everybody", "", Catalogue.english[.audienceEmpty]),
        ] {
            let refused = try await save(mia, draft, ["filter": filter, "audience_name": name, "go": "keep"])
            #expect(refused.status == .conflict, "\(refused.text)")
            #expect(refused.text.contains(#"<p class="field-problem" role="alert">\#(words)"#), "\(refused.text)")
            #expect(refused.text.contains(#"name="audience_name" value="\#(name)""#), "\(refused.text)")
            let again = try await mia.get("\(draft)/target").text
            #expect(filter.isEmpty || again.contains(filter.replacing("'", with: "&#39;")), "\(again)")
            let version = /name="version" value="\d+"/
            #expect(refused.text.firstMatch(of: version)?.output == again.firstMatch(of: version)?.output)
        }
        // Enter in a field saves the step, and a filter with a mistake is shown at the filter: the name stays typed.
        for (filter, button) in [("locale = 'fr'", "stay"), ("locale =", "keep")] {
            let saved = try await save(mia, draft, ["filter": filter, "audience_name": "a & b", "go": button])
            let place = try #require(saved.headers[.location], "\(saved.text)")
            #expect(try await mia.get(place).text.contains(#"name="audience_name" value="a &amp; b""#), "\(place)")
        }
        #expect(try await site.admin.audiences().map(\.filter) == [Self.german])
        _ = try await save(mia, draft, ["filter": "locale = 'fr'", "audience": "german", "go": "use"])
        let page = try await mia.get("\(draft)/target").text
        #expect(page.contains("copied from the saved audience german") && page.contains(#"<p class="value">20</p>"#))
        await site.close()
    }

    @Test func aControlGroupIsSetAndShown() async throws {
        let site = try await site()
        let path = "/services/control?service=shop"
        let boss = try await site.session(.operate)
        #expect(try await boss.get(path).text.contains("The service has no control group."))
        let set = try await boss.post(path, form: ["percent": "12,5", "category.news": "on"])
        #expect(set.headers[.location] == path + "&done=set", "\(set.text)")
        let row = try #require(try await site.admin.controlGroups().first)
        #expect(row.percent == 12.5 && row.categories == ["news"])
        try await site.sql("DO $$ BEGIN PERFORM pushmta_engine.count_control_group(); END $$")
        #expect(
            try await site.admin.recordUserConversion(service: "shop", userKey: "shop-ios-1", name: "order", value: nil)
        )
        let page = try await boss.get(path + "&done=set").text
        for words in ["The control group is set.", "12.5 %", "order", "too few results", "of 40"] {
            #expect(page.contains(words), "\(words): \(page)")
        }
        for percent in ["", "much", "51", "1.234"] {
            #expect(try await boss.post(path, form: ["percent": percent]).status == .unprocessableContent, "\(percent)")
        }
        let reader = try await site.session(.read, name: "rea")
        let shown = try await reader.get(path).text
        #expect(shown.contains("12.5 %") && !shown.contains("name=\"percent\""))
        #expect(try await site.session(.admin).get("/audit").text.contains("changed the control group of a service"))
        await site.close()
    }
}
