import HTTPTypes
import PushCore
import Store
import Testing

@testable import Console

/// The pages of templates and of settings in force, with a real database.
@Suite struct TemplatePageTests {
    private static let content = #"{"ios": {"title": "Salut {{name}}"}}"#

    /// Creates a template with a target; returns its id.
    private func template(_ site: ConsoleSite) async throws -> Int32 {
        let name = "french sale"
        try await site.admin.createExclusionList(name: "staff")
        try await site.admin.addTemplate(
            name: name,
            label: "For France",
            content: Self.content,
            settings: #"{"priority": 7}"#,
            target: TemplateTarget(applications: ["shop-ios"], filter: "locale = 'fr'", excludedLists: ["staff"])
        )
        return try await site.admin.template(named: name).id
    }

    private func version(_ page: ConsoleAnswer) -> String {
        page.text.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
    }

    @Test func templatesHaveTheirServiceApplicationsAndTarget() async throws {
        let site = try await ConsoleSite.start()
        let id = try await template(site)
        let reader = try await site.session(.read)
        let list = try await reader.get("/templates")
        #expect(list.status == .ok)
        for words in ["french sale", "For France", "shop-ios", ">shop<", "locale = &#39;fr&#39;", "Deliver on iOS"] {
            #expect(list.text.contains(words), "\(words)")
        }
        let page = try await reader.get("/templates/\(id)")
        for words in ["Salut {{name}}", "&quot;priority&quot;: 7", "staff", "Exclusion lists", "your own"] {
            #expect(page.text.contains(words), "\(words)")
        }
        // Readers are not shown further actions.
        #expect(!page.text.contains("/compose?") && !page.text.contains("/delete"))
        #expect(try await reader.get("/templates/999999").status == .notFound)
        #expect(try await reader.get("/templates/99999999999").status == .notFound)
        await site.close()
    }

    @Test func aDeliveryIsMadeFromATemplate() async throws {
        let site = try await ConsoleSite.start()
        let id = try await template(site)
        let mia = try await site.session(.marketing)
        #expect(try await mia.get("/templates/\(id)").text.contains("/compose?template=french%20sale"))
        let compose = try await mia.get("/compose?template=french%20sale")
        #expect(compose.text.contains(#"<option value="french sale" selected>"#))
        let begun = try await mia.post("/compose", form: ["label": "Soldes", "template": "french sale"])
        let first = begun.headers[.location] ?? ""
        let draft = first.replacing("/applications", with: "")
        #expect(try await mia.get(first).text.contains(#"name="application.shop-ios" checked"#))
        let target = try await mia.get(draft + "/target").text
        #expect(target.contains("locale = &#39;fr&#39;") && target.contains(#"name="list.staff" checked"#))
        #expect(try await mia.get(draft + "/content").text.contains("Salut {{name}}"))
        // The draft is saved as another template, from which a later draft starts.
        let send = try await mia.get(draft + "/send")
        let kept = try await mia.post(draft + "/template", form: ["keep": "summer", "version": version(send)])
        let path = kept.headers[.location] ?? ""
        #expect(path.hasPrefix("/templates/") && path.hasSuffix("?done=add"))
        #expect(try await mia.get(path).text.contains("The template is saved."))
        let summer = try await site.admin.template(named: "summer")
        #expect(summer.target == (try await site.admin.template(named: "french sale")).target)
        #expect(summer.settings.contains("7") && summer.content.contains("Salut") && summer.label == "Soldes")
        // The page reports that the name is taken; an older version of the draft is not saved either.
        let again = try await mia.post(draft + "/template", form: ["keep": "summer", "version": version(send)])
        #expect(again.status == .conflict && again.text.contains("already exists"))
        let unnamed = try await mia.post(draft + "/template", form: ["keep": " ", "version": version(send)])
        #expect(unnamed.status == .conflict && unnamed.text.contains(Catalogue.english[.nameMissing]))
        // What was typed stays when another button is pressed, and when a setting is wrong.
        let named = ["keep": "winter", "version": version(send), "go": "stay"]
        let saved = try await mia.post(draft + "/send", form: named)
        let place = try #require(saved.headers[.location])
        #expect(try await mia.get(place).text.contains(#"name="keep" value="winter""#), "\(place)")
        let wrong = ["keep": "winter", "version": version(send), "settings.priority": "much"]
        let refused = try await mia.post(draft + "/template", form: wrong)
        #expect(refused.text.contains(#"name="keep" value="winter""#) && refused.text.contains("field-problem"))
        let old = try await mia.post(draft + "/template", form: ["keep": "autumn", "version": "0"])
        #expect(old.status == .conflict && old.text.contains("changed in another window"))
        await site.close()
    }

    @Test func aTemplateIsDeletedAndThatIsOnRecord() async throws {
        let site = try await ConsoleSite.start()
        let id = try await template(site)
        let ready = try await site.admin.template(named: "Deliver on iOS").id
        let mia = try await site.session(.marketing)
        let page = try await mia.get("/templates/\(id)/delete")
        #expect(page.text.contains("Delete this template?") && page.text.contains("french sale"))
        #expect(try await mia.post("/templates/\(id)/delete").headers[.location] == "/templates?done=delete")
        #expect(try await mia.get("/templates?done=delete").text.contains("The template is deleted"))
        #expect(try await mia.get("/templates/\(id)").status == .notFound)
        // A template that came with the product cannot be deleted.
        #expect(try await !mia.get("/templates/\(ready)").text.contains("/delete"))
        #expect(try await mia.get("/templates/\(ready)/delete").status == .conflict)
        #expect(try await mia.post("/templates/\(ready)/delete").status == .conflict)
        #expect(try await site.admin.templates().count == 2)
        #expect(try await site.session(.admin).get("/audit").text.contains("deleted a template"))
        await site.close()
    }

    @Test func manyTemplatesHavePages() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql(
            """
            INSERT INTO pushmta_engine.delivery_template (name, content)
                SELECT 'name ' || lpad(n::text, 3, '0'), '{}' FROM generate_series(1, 60) n
            """
        )
        let reader = try await site.session(.read)
        let first = try await reader.get("/templates").text
        #expect(first.contains("name 048") && !first.contains("name 049"))
        let next = first.firstMatch(of: /href="(\/templates\?behind=[^"]+)"/).map { String($0.1) } ?? ""
        let second = try await reader.get(next).text
        #expect(second.contains("name 049") && second.contains("name 060") && !second.contains("name 048"))
        #expect(second.contains("Back to the first") && !second.contains("More templates"))
        await site.close()
    }

    @Test func settingsSayWhereTheyCameFrom() async throws {
        let settings = [
            SettingInForce(key: "console.port", value: "8090", unit: "port", source: .flag, place: ""),
            SettingInForce(
                key: "log.level",
                value: "debug",
                unit: "",
                source: .environment,
                place: "PUSHMTA_LOG_LEVEL"
            ),
            SettingInForce(
                key: "database.url",
                value: "<redacted>",
                unit: "",
                source: .file,
                place: "/etc/pushmta.yaml"
            ),
            SettingInForce(key: "web.accessLog", value: "", unit: "path", source: .standard, place: ""),
        ]
        let site = try await ConsoleSite.start(settingsInForce: settings)
        let oda = try await site.session(.operate)
        #expect(try await oda.get("/hosts").text.contains(#"href="/hosts/settings""#))
        let page = try await oda.get("/hosts/settings")
        for words in [
            "console.port", "8090", "PUSHMTA_LOG_LEVEL", "/etc/pushmta.yaml", "&lt;redacted&gt;", "web.accessLog",
            "empty",
            "Changed settings", "Settings at their defaults",
        ] {
            #expect(page.text.contains(words), "\(words)")
        }
        let mia = try await site.session(.marketing)
        // For a signed-in user, a missing page has a link back.
        let nothing = try await mia.get("/hosts/nothing")
        #expect(nothing.status == .notFound && nothing.text.contains(#"href="/deliveries""#))
        #expect(try await mia.get("/hosts/settings").status == .forbidden)
        #expect(try await !mia.get("/hosts").text.contains("/hosts/settings"))
        await site.close()
    }
}
