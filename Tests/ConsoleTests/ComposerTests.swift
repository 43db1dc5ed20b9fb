import HTTPTypes
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// A delivery is written in steps, looked at, and started, by those who may.
@Suite struct ComposerTests {
    /// An application that something can be sent to: subscribers, a credential, a seed address.
    private func ready(_ site: ConsoleSite) async throws {
        let connection = try await site.database.connect()
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
                UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential);
                INSERT INTO pushmta_engine.subscription (application_id, push_token, recipient, locale)
                    SELECT a.id, lpad(n::text, 64, 'a'), '{"name": "Ada"}', CASE WHEN n <= 3 THEN 'fr' ELSE 'de' END
                    FROM pushmta_engine.application a, generate_series(1, 7) n;
                """
        )
        await connection.close()
        try await site.admin.addSeed(
            NewSeed(name: "me", application: "shop-ios", address: .pushToken(String(repeating: "b", count: 64)))
        )
    }

    /// Begins a draft; returns the path of its steps.
    private func begin(_ browser: ConsoleBrowser, _ label: String = "Sale") async throws -> String {
        let answer = try await browser.post("/compose", form: ["label": label])
        let location = answer.headers[.location] ?? ""
        #expect(answer.status == .seeOther && location.hasSuffix("/applications"))
        return String(location.dropLast("/applications".count))
    }

    /// Sends a step's form as it is on the page now.
    private func save(_ browser: ConsoleBrowser, _ draft: String, _ step: String, _ form: [String: String]) async throws
        -> ConsoleAnswer
    {
        let page = try await browser.get("\(draft)/\(step)").text
        let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        return try await browser.post("\(draft)/\(step)", form: form.merging(["version": version]) { own, _ in own })
    }

    @Test func aDeliveryIsWrittenInStepsAndStarted() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        let first = try await save(
            mia,
            draft,
            "applications",
            ["label": "Sale", "application.shop-ios": "on", "go": "next"]
        )
        #expect(first.headers[.location] == "\(draft)/target")
        _ = try await save(mia, draft, "target", ["filter": "locale = 'fr'", "go": "next"])
        #expect(try await mia.get("\(draft)/target").text.contains(#"<p class="value">3</p>"#))
        _ = try await save(mia, draft, "content", ["ios.title": "Hello {{name}}", "ios.body": "Now", "go": "next"])
        let preview = try await mia.get("\(draft)/preview?who=seed:me").text
        #expect(preview.contains("class=\"phone iphone\"") && preview.contains("Hello"))
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains("seed.me") && send.contains("\(draft)/start"))
        let confirm = try await mia.get("\(draft)/start?when=now").text
        #expect(confirm.contains("Start this delivery?") && confirm.contains(">3</strong> subscriptions of <bdi>"))
        let version = send.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        let proof = try await mia.post("\(draft)/proof", form: ["version": version, "seed.me": "on"])
        #expect(proof.headers[.location]?.hasPrefix("\(draft)/send?proof=") == true, "\(proof.status)")
        let started = try await mia.post("\(draft)/start", form: ["version": version])
        let path = started.headers[.location] ?? ""
        let delivery = try #require(path.firstMatch(of: /^\/deliveries\/(\d+)\?done=start$/).flatMap { Int64($0.1) })
        #expect(try await site.admin.deliveryProgress(delivery).state == .pending)
        #expect(try await mia.get(path).text.contains("The delivery is started."))
        // The draft is over; what became of it is on record.
        #expect(try await mia.get("\(draft)/content").status == .notFound)
        let audit = try await site.session(.admin).get("/audit").text
        for words in ["began a draft", "changed a draft", "sent a proof", "started a delivery"] {
            #expect(audit.contains(words), "\(words)")
        }
        await site.close()
    }

    @Test func problemsStandAtTheirFieldsAndNobodyGoesOn() async throws {
        let site = try await ConsoleSite.start()
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        _ = try await save(mia, draft, "applications", ["label": "Sale", "application.shop-ios": "on"])
        let answer = try await save(mia, draft, "content", ["ios.title": "Hi", "ios.badge": "many", "go": "next"])
        #expect(answer.headers[.location] == "\(draft)/content?saved=1")
        let page = try await mia.get("\(draft)/content?saved=1").text
        let field = page.firstMatch(of: /id="ios\.badge"(.|\n)*?<\/div>/).map { String($0.0) } ?? ""
        #expect(field.contains("aria-invalid") && field.contains("field-problem"))
        let title = page.firstMatch(of: /<input id="ios\.title"[^>]*>/).map { String($0.0) } ?? ""
        #expect(title.contains(#"value="Hi""#) && !title.contains("aria-invalid"))
        let wrong = try await save(mia, draft, "target", ["filter": "locale = ", "go": "next"])
        #expect(wrong.headers[.location] == "\(draft)/target?saved=1")
        #expect(try await mia.get("\(draft)/target?saved=1").text.contains("field-problem"))
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains("The filter of the target is wrong.") && send.contains("cannot be sent yet"))
        #expect(!send.contains("\(draft)/start"))
        await site.close()
    }

    @Test func aFilterIsMadeOfRows() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await site.sql(
            """
            UPDATE pushmta_engine.application SET subscription_parameters = '[{"name": "tier", "column": "parameters.tier"}]'
            """
        )
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        _ = try await save(mia, draft, "applications", ["label": "Sale", "application.shop-ios": "on"])
        func filter() async throws -> String {
            let page = try await mia.get("\(draft)/target").text
            return page.firstMatch(of: /<textarea id="filter"[^>]*>([^<]*)</).map { String($0.1) } ?? "none"
        }
        func rows(_ rows: [(String, String, String)], _ more: [String: String]) async throws -> ConsoleAnswer {
            var form = ["join": "and", "filter": "", "made": "", "go": "stay"]
            for (place, row) in rows.enumerated() {
                form["row.\(place).field"] = row.0
                form["row.\(place).is"] = row.1
                form["row.\(place).value"] = row.2
            }
            return try await save(mia, draft, "target", form.merging(more) { _, new in new })
        }
        // An empty filter has one empty row, with the fields that there are.
        let page = try await mia.get("\(draft)/target").text
        #expect(page.contains(#"name="row.0.field" value="""#) && page.contains(#"<option value="parameters.tier">"#))
        #expect(page.contains(#"<option value="registered_at">"#) && page.contains(#"value="add""#))
        // A row is added without a script; the empty one is no test.
        _ = try await rows([("locale", "=", "fr")], ["go": "add"])
        #expect(try await mia.get("\(draft)/target").text.contains(#"name="row.1.field" value="""#))
        let made = "locale = &#39;fr&#39;"
        #expect(try await filter() == made)
        let both = [("locale", "=", "fr"), ("parameters.tier", "in", "gold, silver")]
        _ = try await rows(both, ["join": "or", "filter": "locale = 'fr'", "made": "locale = 'fr'"])
        #expect(try await filter() == made + " or parameters.tier in (&#39;gold&#39;, &#39;silver&#39;)")
        // One that is wrong says so at its place, and nobody goes on with it.
        let text = "locale = 'fr' or parameters.tier in ('gold', 'silver')"
        let wrong = [both[0], ("registered_at", "<", "soon")]
        let answer = try await rows(wrong, ["filter": text, "made": text, "go": "next"])
        #expect(answer.headers[.location] == "\(draft)/target?saved=1")
        let shown = try await mia.get("\(draft)/target?saved=1").text
        #expect(shown.contains(#"id="rule-2-problem" role="alert">registered_at is a time"#), "\(shown)")
        #expect(shown.contains(#"value="soon""#) && !shown.contains(#"id="rule-1-problem""#))
        #expect(try await mia.get("\(draft)/send").text.contains("The filter of the target is wrong."))
        // A row is removed; a text that is written by hand counts, and may say more than rows can.
        let now = "locale = 'fr' and registered_at < 'soon'"
        _ = try await rows(wrong, ["filter": now, "made": now, "go": "remove.1"])
        #expect(try await filter() == made)
        let nested = "locale = 'fr' and (user_key is null or enabled = true)"
        _ = try await rows([both[0]], ["filter": nested, "made": "locale = 'fr'"])
        #expect(try await filter() == "locale = &#39;fr&#39; and (user_key is null or enabled = true)")
        let byHand = try await mia.get("\(draft)/target").text
        #expect(byHand.contains("written by hand") && !byHand.contains("row.0.field"))
        // Without rows in the form the text stays.
        _ = try await save(mia, draft, "target", ["filter": nested, "go": "stay"])
        #expect(try await mia.get("\(draft)/send").text.contains("user_key is null"))
        await site.close()
    }

    @Test func draftsAreTheirWritersOwn() async throws {
        let site = try await ConsoleSite.start()
        let mia = try await site.session(.marketing, name: "mia")
        let max = try await site.session(.marketing, name: "max")
        let oda = try await site.session(.operate, name: "oda")
        let draft = try await begin(mia, "Secret sale")
        #expect(try await max.get("\(draft)/content").status == .notFound)
        #expect(try await !max.get("/compose").text.contains("Secret sale"))
        #expect(try await max.post("\(draft)/remove").status == .notFound)
        #expect(try await oda.get("/compose").text.contains("Secret sale"))
        // Who saves an older version is told, and nothing is lost.
        _ = try await save(oda, draft, "applications", ["label": "Changed"])
        let late = try await mia.post("\(draft)/applications", form: ["label": "Late", "version": "1"])
        #expect(late.status == .conflict)
        #expect(try await mia.get("\(draft)/applications").text.contains("Changed"))
        #expect(try await mia.post("\(draft)/remove").headers[.location] == "/compose?done=remove")
        await site.close()
    }

    @Test func countingEndsInTime() async throws {
        let site = try await ConsoleSite.start()
        let connection = try await site.database.connect()
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.subscription (application_id, push_token, locale)
                    SELECT a.id, lpad(n::text, 64, 'a'), CASE WHEN n % 2 = 0 THEN 'fr' ELSE 'de' END
                    FROM pushmta_engine.application a, generate_series(1, 12000) n
                """
        )
        await connection.close()
        let applications = try await site.admin.applications().map(\.id)
        let all = try await site.admin.countAudience(nil, applications: applications, within: .seconds(600))
        #expect(all.count == 12_000 && !all.isPartial && all.excluded == 0)
        let some = try await site.admin.countAudience(
            TargetFilter(parsing: "locale = 'fr'"),
            applications: applications,
            within: .seconds(600)
        )
        #expect(some.count == 6_000)
        // Without any time it is the first step that is counted, and said so.
        let partly = try await site.admin.countAudience(nil, applications: applications, within: .zero)
        #expect(partly.isPartial && partly.count > 0 && partly.count < 12_000)
        await site.close()
    }

    @Test func marketingMayNotOperate() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.post("/deliveries/\(delivery)/stop").status == .forbidden)
        #expect(try await !mia.get("/deliveries/\(delivery)").text.contains("/pause"))
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/").text.contains("/compose"))
        #expect(try await mia.get("/").text.contains("/compose"))
        await site.close()
    }

    @Test func phonesShowWhatThePayloadSays() throws {
        let ios = try JSONValue(
            parsing: #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":2,"category":"C"}}"#.utf8
        )
        let phone = PhoneMessage(ios, .ios)
        #expect(phone.title == "T" && phone.subtitle == "S" && phone.body == "B" && phone.badge == "2")
        #expect(phone.category == "C" && phone.isShown)
        let silent = try JSONValue(parsing: #"{"aps":{"content-available":1}}"#.utf8)
        #expect(!PhoneMessage(silent, .ios).isShown)
        let android = try JSONValue(
            parsing: #"{"message":{"android":{"notification":{"title":"T","body":"B","image":"https://e/i.png"}}}}"#
                .utf8
        )
        let other = PhoneMessage(android, .android)
        #expect(other.title == "T" && other.body == "B" && other.image == "https://e/i.png")
    }
}
