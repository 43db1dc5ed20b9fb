import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Subscribers and the quarantine, with a real database.
@Suite struct PeopleTests {
    private func find(_ browser: ConsoleBrowser, _ key: String, _ wanted: String) async throws -> ConsoleAnswer {
        try await browser.post("/subscribers", form: ["by": key, "wanted": wanted])
    }

    /// A site with subscriptions; the first two belong to one person.
    private func site(_ count: Int64 = 3, key: String = "customer-4711") async throws -> ConsoleSite {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(count)
        let quoted = key.replacing("'", with: "''")
        try await site.sql("UPDATE pushmta_engine.subscription SET user_key = '\(quoted)' WHERE id <= 2")
        return site
    }

    @Test func somebodyIsFoundByKeyAndReadersSeeHalf() async throws {
        let site = try await site()
        let reader = try await site.session(.read)
        let oda = try await site.session(.operate)
        let several = try await find(oda, "user_key", "  customer-4711 ")
        #expect(
            several.status == .ok && several.text.contains("/subscribers/1\"")
                && several.text.contains("/subscribers/2\"")
        )
        #expect(several.text.contains("<bdi>customer-4711</bdi>"))
        let masked = try await find(reader, "user_key", "customer-4711")
        #expect(masked.text.contains("<bdi>cu…</bdi>") && !masked.text.contains("<bdi>customer-4711</bdi>"))
        #expect(try await find(reader, "subscription", "3").headers[.location] == "/subscribers/3")
        #expect(try await find(reader, "user_key", "nobody").text.contains("No subscription was found"))
        let problems = [
            ("subscription", "a1", "Type only its digits"), ("user_key", " ", "Type what to look for"),
            ("push_token", "abc", "This is not a push token"), ("push_token", "two words", "This is not a push token"),
        ]
        for (key, wanted, words) in problems {
            let answer = try await find(reader, key, wanted)
            #expect(answer.text.contains(words) && answer.text.contains("role=\"alert\""), "\(wanted)")
        }
        #expect(try await find(reader, "token", "x").status == .badRequest)
        let token = try await site.value("SELECT push_token FROM pushmta_engine.subscription WHERE id = 3")
        #expect(try await find(reader, "push_token", " \(token) ").headers[.location] == "/subscribers/3")
        let other = String(repeating: "0f", count: 32)
        let nobody = try await find(reader, "push_token", other).text
        #expect(nobody.contains("No subscription was found") && !nobody.contains(other), "a token is shown again")
        // Without a search, nothing is listed.
        #expect(try await !reader.get("/subscribers").text.contains("<table"))
        let page = try await reader.get("/subscribers/1").text
        #expect(
            page.contains("cu…") && !page.contains("customer-4711")
                && !page.contains("method=\"post\" action=\"/subscribers/1")
        )
        #expect(try await reader.get("/subscribers/99").status == .notFound)
        #expect(try await reader.get("/subscribers/x").status == .notFound)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("looked up a subscriber") && audit.contains("looked at a subscription"))
        #expect(!audit.contains("customer-4711"))
        await site.close()
    }

    @Test func aServicesSubscribersAreListedByPagesAndSearched() async throws {
        let site = try await site(120)
        try await site.admin.createService(name: "bank", label: "Bank")
        let reader = try await site.session(.read)
        let oda = try await site.session(.operate)
        let path = "/services/subscriptions?service=shop"
        #expect(try await reader.get("/services").text.contains("href=\"\(path)\""))
        var (next, seen, pages): (String?, [Int64], Int) = (path, [], 0)
        while let page = next {
            let text = try await oda.get(page).text
            seen += text.matches(of: /href="\/subscribers\/([0-9]+)"/).compactMap { Int64($0.1) }
            pages += 1
            next = text.firstMatch(of: /href="([^"]*below[^"]*)"/).map { String($0.1).replacing("&amp;", with: "&") }
        }
        #expect(seen == (1...120).reversed().map { Int64($0) } && pages == 3)
        let last = path + "&below=3"
        let shown = try await oda.get(last).text
        #expect(
            shown.contains("<bdi>customer-4711</bdi>") && shown.contains("<bdi>shop-ios</bdi>") && shown.contains("iOS")
        )
        #expect(try await reader.get(last).text.contains("<bdi>cu…</bdi>"))
        #expect(try await !reader.get(last).text.contains("customer-4711"))
        let token = try await site.value("SELECT push_token FROM pushmta_engine.subscription WHERE id = 1")
        #expect(!shown.contains(token))
        // Subscribers of other services are not found here.
        func find(_ service: String, _ key: String, _ wanted: String) async throws -> ConsoleAnswer {
            try await oda.post("/services/subscriptions?service=\(service)", form: ["by": key, "wanted": wanted])
        }
        let several = try await find("shop", "user_key", "customer-4711").text
        #expect(several.contains("/subscribers/1\"") && several.contains("/subscribers/2\""))
        #expect(try await find("shop", "subscription", "3").headers[.location] == "/subscribers/3")
        let third = try await site.value("SELECT push_token FROM pushmta_engine.subscription WHERE id = 3")
        #expect(try await find("shop", "push_token", third).headers[.location] == "/subscribers/3")
        for (key, wanted) in [("user_key", "customer-4711"), ("subscription", "3"), ("push_token", third)] {
            #expect(try await find("bank", key, wanted).text.contains("No subscription was found"), "\(key)")
        }
        #expect(try await find("shop", "subscription", "x").text.contains("Type only its digits"))
        #expect(try await oda.get("/services/subscriptions?service=bank").text.contains("No device has registered yet"))
        #expect(try await oda.get("/services/subscriptions?service=none").status == .notFound)
        #expect(try await find("none", "user_key", "a").status == .notFound)
        let noted =
            "SELECT string_agg(a.detail, '; ' ORDER BY a.id) FROM pushmta_engine.audit_log a WHERE a.action = 'subscriber.list'"
        #expect(try await site.value(noted).hasPrefix("120 to 70; 70 to 20; 20 to 1; 2 to 1"))
        await site.close()
    }

    @Test func noPageHasAPushTokenAndKeysAreText() async throws {
        let hostile = #"<script>alert("1")</script>'&{{title}}"#
        let site = try await site(key: hostile)
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET push_token = 'secret-token-' || id, quarantine_status = 2, quarantined_at = now(),
                quarantine_reason = '<img src=x onerror=alert(1)>'
            """
        )
        let admin = try await site.session(.admin)
        for path in [
            "/subscribers/1", "/subscribers/1/forget", "/quarantine", "/services/subscriptions?service=shop",
        ] {
            let page = try await admin.get(path)
            #expect(page.status == .ok, "\(path)")
            #expect(
                !page.text.contains("secret-token") && !page.text.contains("<script>") && !page.text.contains("<img"),
                "\(path)"
            )
            #expect(page.text.contains("&lt;"), "\(path)")
        }
        let found = try await find(admin, "user_key", hostile)
        #expect(
            found.text.contains("&lt;script&gt;") && !found.text.contains("<script>") && !found.text.contains("secret")
        )
        await site.close()
    }

    @Test func categoriesAreShownAndChangedByOperators() async throws {
        let site = try await site()
        try await site.admin.setOptOut(1, category: "news", true)
        let reader = try await site.session(.read)
        let seen = try await reader.get("/subscribers/1").text
        #expect(seen.contains("Categories") && seen.contains("Marketing") && seen.contains("no, since"))
        #expect(seen.contains("yes, always") && !seen.contains("category_out"))
        let oda = try await site.session(.operate)
        let page = try await oda.get("/subscribers/1").text
        #expect(page.contains(#"href="/subscribers/1/category_in?category=news""#))
        #expect(page.contains("category_out?category=marketing") && !page.contains("category=transactional"))
        let asked = try await oda.get("/subscribers/1/category_out?category=marketing").text
        #expect(asked.contains("Unsubscribe this person?") && asked.contains("customer-4711"))
        #expect(asked.contains(#"action="/subscribers/1/category_out?category=marketing""#))
        #expect(try await oda.get("/subscribers/1/category_in?category=none").status == .notFound)
        for (name, category) in [("category_out", "marketing"), ("category_in", "news")] {
            let answer = try await oda.post("/subscribers/1/\(name)", form: ["category": category])
            let location = try #require(answer.headers[.location])
            #expect(answer.status == .seeOther && location == "/subscribers/1?done=category")
            #expect(try await oda.get(location).text.contains("It is recorded what this person wants"))
        }
        let left = try await site.value(
            "SELECT string_agg(category, ',') FROM pushmta.category_opt_out WHERE subscription_id = 1"
        )
        #expect(left == "marketing")
        // Nobody can opt out of what they have ordered, and unknown ones are refused.
        for category in ["transactional", "nothing", ""] {
            let answer = try await oda.post("/subscribers/1/category_out", form: ["category": category])
            #expect(answer.status != .seeOther, "\(category)")
        }
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("category marketing") && audit.contains("category news"))
        await site.close()
    }

    @Test func whatIsDoneIsSaidAndOnRecord() async throws {
        let site = try await site()
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantined_at = now(), quarantine_reason = 'BadDeviceToken',
                enabled = false, disabled_reason = 'token_invalid', disabled_at = now() WHERE id = 1
            """
        )
        let admin = try await site.session(.admin)
        let before = try await admin.get("/subscribers/1").text
        #expect(before.contains("in quarantine") && before.contains("the token is none of this app"))
        // The page asks for confirmation first.
        #expect(
            before.contains(#"href="/subscribers/1/opt_out""#) && !before.contains(#"action="/subscribers/1/opt_out""#)
        )
        let asked = try await admin.get("/subscribers/1/opt_out").text
        #expect(asked.contains("Opt this person out?") && asked.contains(#"action="/subscribers/1/opt_out""#))
        for (action, words) in [
            ("opt_in", "Does this person want messages again?"),
            ("opt_in_all", "Does this person want messages again?"),
            ("lift", "Lift the quarantine?"),
        ] {
            let asked = try await admin.get("/subscribers/1/\(action)").text
            #expect(asked.contains(words) && asked.contains("customer-4711"), "\(action)")
            #expect(
                asked.contains("action=\"/subscribers/1/\(action)\"") && !before.contains("action=\"/subscribers/1/")
            )
        }
        let ofAll = try await admin.get("/subscribers/1/opt_out_all").text
        #expect(ofAll.contains("Opt out of all apps") && ofAll.contains(#"action="/subscribers/1/opt_out_all""#))
        for (action, words) in [
            ("lift", "The quarantine is lifted"), ("opt_out", "this person wants no messages"),
            ("opt_in", "wants messages again"), ("opt_out_all", "this person wants no messages"),
            ("opt_in", "wants messages again"), ("opt_in_all", "wants messages again"),
        ] {
            let answer = try await admin.post("/subscribers/1/\(action)")
            let location = try #require(answer.headers[.location])
            #expect(answer.status == .seeOther && location == "/subscribers/1?done=\(action)")
            #expect(try await admin.get(location).text.contains(words), "\(action)")
        }
        #expect(try await admin.get("/subscribers/1").text.contains("gets messages"))
        // It is no longer in quarantine, so the database refuses.
        #expect(try await admin.post("/subscribers/1/lift").status == .conflict)
        let sure = try await admin.get("/subscribers/1/forget")
        #expect(sure.text.contains("Forget this user permanently?") && sure.text.contains("customer-4711"))
        let answer = try await admin.post("/subscribers/1/forget")
        #expect(answer.headers[.location] == "/subscribers?done=forget")
        #expect(try await admin.get("/subscribers?done=forget").text.contains("The user is forgotten"))
        let after = try await admin.get("/subscribers/2").text
        #expect(
            after.contains("its user was forgotten") && !after.contains("customer-4711") && !after.contains("/forget\"")
        )
        let audit = try await admin.get("/audit").text
        for words in ["lifted a quarantine", "wants no messages", "wants messages again", "forgot a user"] {
            #expect(audit.contains(words), "\(words)")
        }
        await site.close()
    }

    @Test func theQuarantineIsCountedListedAndLifted() async throws {
        let site = try await site(2_300)
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantined_at = now() - id * interval '1 s',
                quarantine_reason = 'BadDeviceToken', enabled = false, disabled_reason = 'token_invalid'
            """
        )
        let oda = try await site.session(.operate)
        func shown(_ text: String) -> [Int] {
            text.matches(of: /<th scope="row"><a href="\/subscribers\/(\d+)"/).compactMap { Int($0.1) }
        }
        let first = try await oda.get("/quarantine").text
        #expect(first.contains("at least 2,000") && first.contains("the token is none of this app"))
        #expect(shown(first) == Array(1...25))
        let next = try #require(first.firstMatch(of: /href="(\/quarantine\?before=[0-9-]+)#/)).1
        #expect(try await shown(oda.get(String(next)).text) == Array(26...50))
        for bad in ["x", "1", "1-2-3", "99999999999999999999-1", "9223372036854775807-1"] {
            #expect(try await shown(oda.get("/quarantine?before=\(bad)").text) == Array(1...25), "\(bad)")
        }
        #expect(first.contains(#"href="/quarantine/3/lift""#) && !first.contains(#"action="/quarantine"#))
        #expect(try await oda.get("/quarantine/3/lift").text.contains("Lift the quarantine?"))
        let answer = try await oda.post("/quarantine/3/lift")
        let location = try #require(answer.headers[.location])
        let after = try await oda.get(location).text
        #expect(after.contains("The quarantine is lifted") && shown(after).prefix(3) == [1, 2, 4])
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/quarantine").text.contains("/lift"))
        await site.close()
    }

    /// Who comes from a draft goes back there, and never to another site.
    @Test func whoAddsASeedAddressGoesBackToTheDraft() async throws {
        let site = try await site()
        let mia = try await site.session(.marketing, name: "mia")
        let from = try await mia.get("/seeds?back=/compose/5/send").text
        #expect(from.contains(#"href="/compose/5/send""#) && from.contains(#"href="/seeds/new?back=/compose/5/send""#))
        let list = "/seeds?done=add&added=erin"
        for (back, place) in [("/compose/5/send", "/compose/5/send"), ("//evil.example", list), ("", list)] {
            let form = ["name": "erin", "application": "shop-ios", "by": "subscription", "wanted": "3"]
            let added = try await mia.post("/seeds/new?back=\(back)", form: form)
            #expect(added.headers[.location] == place, "\(back): \(added.text)")
            #expect(try await mia.post("/seeds/remove?name=erin").status == .seeOther)
        }
        await site.close()
    }

    @Test func whatADeliveryDidToTokensIsUndone() async throws {
        let site = try await site()
        let id = try await site.delivery()
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantined_at = now(), quarantine_reason = 'BadDeviceToken',
                enabled = false, disabled_reason = 'token_invalid', disabled_at = now() WHERE id = 1;
            INSERT INTO pushmta_engine.token_event (subscription_id, application_id, delivery_id, kind, state, applied_at)
            SELECT s.id, s.application_id, \(id), 'invalid', 'applied', s.disabled_at FROM pushmta_engine.subscription s WHERE s.id = 1
            """
        )
        let oda = try await site.session(.operate)
        let path = "/quarantine/undo"
        #expect(try await oda.get("/quarantine").text.contains(path))
        #expect(try await oda.get(path).text.contains("Number of the delivery"))
        for wrong in ["", "x", "0", "999"] {
            let refused = try await oda.post(path, form: ["delivery": wrong])
            #expect(refused.status == .unprocessableContent, "\(wrong): \(refused.text)")
        }
        let chosen = try await oda.post(path, form: ["delivery": "\(id)"])
        #expect(chosen.headers[.location] == "\(path)/\(id)", "\(chosen.text)")
        let question = try await oda.get("\(path)/\(id)").text
        #expect(question.contains("tokens that are undone: 1.") && question.contains("Autumn sale"), "\(question)")
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.post("\(path)/\(id)").status == .forbidden)
        #expect(try await !mia.get("/quarantine").text.contains(path))
        let undone = try await oda.post("\(path)/\(id)")
        #expect(undone.headers[.location] == "/quarantine?undone=1", "\(undone.text)")
        #expect(try await oda.get("/quarantine?undone=1").text.contains("tokens that were undone: 1."))
        #expect(try await site.value("SELECT enabled FROM pushmta_engine.subscription WHERE id = 1") == "true")
        let log = """
            SELECT string_agg(who || ' ' || subject, ', ') FROM pushmta_engine.audit_log WHERE action = 'token.undo'
            """
        #expect(try await site.value(log) == "operate delivery \(id)")
        // There is nothing left.
        #expect(try await oda.post(path, form: ["delivery": "\(id)"]).status == .unprocessableContent)
        await site.close()
    }

    @Test func seedAddressesAreAddedAndRemovedByWhoComposes() async throws {
        let site = try await site()
        let mia = try await site.session(.marketing, name: "mia")
        let token = String(repeating: "AB", count: 32)
        func add(_ name: String, _ kind: String, _ wanted: String, _ more: [String: String] = [:]) async throws
            -> ConsoleAnswer
        {
            let form = ["name": name, "application": "shop-ios", "by": kind, "wanted": wanted]
            return try await mia.post("/seeds/new", form: form.merging(more) { _, new in new })
        }
        #expect(try await mia.get("/seeds").text.contains("There is no seed address yet."))
        let fields = ["label": "Ada <b>", "variables": #"{"name": "Ada"}"#, "locale": "fr-CA"]
        #expect(
            try await add("ada-phone", "push_token", token, fields).headers[.location]
                == "/seeds?done=add&added=ada-phone"
        )
        #expect(try await add("bob", "user_key", "customer-4711").status == .seeOther)
        #expect(try await add("carol", "subscription", "3").status == .seeOther)
        let page = try await mia.get("/seeds?done=add").text
        for words in [
            "ada-phone", "Ada &lt;b&gt;", "name = Ada", "fr-CA", "/subscribers/2\"", "/subscribers/3\"",
            "not a subscriber",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!page.contains(token.lowercased()) && !page.contains("customer-4711"))
        // A refused form is shown again, with what was typed in its field and nowhere else: it may be a push token.
        let wrong = [
            ("ada-phone", "push_token", token, "already exists"),
            ("d,e", "subscription", "1", "cannot be named"),
            ("dan", "user_key", "nobody", "The subscription of seed address"),
            ("dan", "subscription", "x", "only its digits"),
            ("dan", "push_token", "Zz9-secret", "is not valid"),
        ]
        for (name, kind, wanted, words) in wrong {
            let answer = try await add(name, kind, wanted)
            #expect(answer.status == .unprocessableContent && answer.text.contains(words), "\(words): \(answer.text)")
            #expect(answer.text.contains(#"name="wanted" type="text" value="\#(wanted)""#), "\(answer.text)")
            #expect(wanted.count < 5 || answer.text.ranges(of: wanted).count == 1, "\(wanted)")
        }
        #expect(try await add("dan", "subscription", "1", ["variables": "[1]"]).text.contains("not a JSON object"))
        let locale = try await add("dan", "subscription", "1", ["locale": "1 fr"]).text
        #expect(locale.contains(#"value="1 fr""#) && locale.contains(">This is not a language. Write one"))
        #expect(try await mia.get("/seeds/remove?name=bob").text.contains("Remove this seed address?"))
        #expect(try await mia.post("/seeds/remove?name=bob").headers[.location] == "/seeds?done=remove")
        #expect(try await mia.post("/seeds/remove?name=bob").status == .notFound)
        #expect(try await site.admin.seeds().map(\.seed.name) == ["ada-phone", "carol"])
        // Readers have neither these pages nor links to them.
        let reader = try await site.session(.read)
        for path in ["/seeds", "/seeds/new", "/seeds/remove?name=carol", "/exclusions", "/exclusions/new"] {
            #expect(try await reader.get(path).status == .forbidden, "\(path)")
        }
        #expect(try await reader.post("/seeds/remove?name=carol").status == .forbidden)
        #expect(try await !reader.get("/subscribers").text.contains("/seeds"))
        #expect(try await mia.get("/subscribers").text.contains("/seeds"))
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("added a seed address") && audit.contains("removed a seed address"))
        #expect(!audit.contains(token) && !audit.contains(token.lowercased()) && !audit.contains("customer-4711"))
        await site.close()
    }

    @Test func exclusionListsAreFilledAndAskedAndNobodyIsListed() async throws {
        let site = try await site()
        let mia = try await site.session(.marketing, name: "mia")
        let made = try await mia.post("/exclusions/new", form: ["name": "no-news", "label": "No newsletter"])
        let path = try #require(made.headers[.location]?.split(separator: "?").first).description
        #expect(path.hasPrefix("/exclusions/"))
        #expect(try await mia.post("/exclusions/new", form: ["name": "no-news"]).status == .unprocessableContent)
        func change(_ action: String, _ kind: String, _ people: String) async throws -> String {
            let answer = try await mia.post(path, form: ["go": action, "by": kind, "people": people])
            guard let location = answer.headers[.location] else { return answer.text }
            return try await mia.get(location).text
        }
        let keys = "customer-4711\r\n\r\n customer-4712 \ncustomer-4711"
        #expect(try await change("put", "user_key", keys).contains("2 of 2 are new on the list"))
        #expect(try await change("put", "user_key", "customer-4711").contains("0 of 1 are new"))
        #expect(try await change("put", "subscription", "1\n2").contains("2 of 2 are new"))
        let token = String(repeating: "AB", count: 32)
        #expect(try await change("put", "push_token", token).contains("1 of 1 is new"))
        #expect(try await change("find", "push_token", token).contains("1 of 1 is on the list"))
        let asked = try await change("find", "user_key", "customer-4711\ncustomer-1")
        #expect(asked.contains("1 of 2 is on the list") && !asked.contains("customer-4711"))
        #expect(try await change("take", "subscription", "2\n3").contains("1 of 2 was removed"))
        // A problem is reported with its line, and nothing is changed.
        #expect(try await change("put", "subscription", "7\nx").contains("Line 2 cannot be one of these"))
        // The text is shown again for correction, except push tokens, which are never shown.
        #expect(try await change("put", "subscription", "\r\n7\r\nx").contains(">\n\r\n7\r\nx</textarea>"))
        let long = String(repeating: "k", count: 3_000)
        #expect(try await change("put", "user_key", "a&b\n\(long)").contains(">\na&amp;b\n\(long)</textarea>"))
        let tokens = try await change("put", "push_token", "\(token)\na b-secret")
        #expect(!tokens.contains("a b-secret") && !tokens.contains(token) && tokens.contains("paste them once more"))
        #expect(try await change("put", "user_key", " \n").contains("No one is named"))
        #expect(
            try await change("put", "user_key", (0...5_000).map(String.init).joined(separator: "\n")).contains(
                "more than 5,000"
            )
        )
        let list = try #require(try await site.admin.exclusionLists().first)
        #expect((list.userKeys, list.subscriptions, list.pushTokens) == (2, 1, 1))
        let shown = try await mia.get(path).text
        #expect(shown.contains("No newsletter") && shown.contains("/delete") && !shown.contains("customer-4711"))
        #expect(try await mia.get("/exclusions").text.contains("href=\"\(path)\""))
        // A list that a delivery uses cannot be deleted.
        let used = try await site.admin.createDelivery(
            NewDelivery(label: "a", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.admin.setTarget(ofDelivery: used, DeliveryTarget(excludedLists: ["no-news"]))
        #expect(try await mia.post(path + "/delete").status == .conflict)
        #expect(try await mia.get(path).text.contains("A delivery has used it"))
        try await site.sql("DELETE FROM pushmta_engine.delivery_exclusion_list")
        #expect(try await mia.get(path + "/delete").text.contains("Delete this exclusion list?"))
        #expect(try await mia.post(path + "/delete").headers[.location] == "/exclusions?done=delete")
        #expect(try await mia.get(path).status == .notFound)
        let reader = try await site.session(.read)
        #expect(try await reader.post(path, form: ["go": "put", "by": "user_key", "people": "x"]).status == .forbidden)
        let audit = try await site.session(.admin).get("/audit").text
        for words in [
            "created an exclusion list", "added people to", "removed people from", "checked people against",
            "deleted an exclusion list",
        ] {
            #expect(audit.contains(words), "\(words)")
        }
        #expect(!audit.contains("customer-4711"))
        await site.close()
    }
}
