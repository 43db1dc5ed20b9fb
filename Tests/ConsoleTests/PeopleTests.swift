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

    /// A site with subscriptions, of which the first two are one person's.
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
        #expect(try await find(reader, "user_key", "nobody").text.contains("Nobody was found"))
        let problems = [
            ("subscription", "a1", "Type its digits only"), ("user_key", " ", "Type what to look for"),
            ("token_hash", String(repeating: "g", count: 64), "64 hexadecimal digits"),
            ("token_hash", "abc", "64 hexadecimal digits"),
        ]
        for (key, wanted, words) in problems {
            let answer = try await find(reader, key, wanted)
            #expect(answer.text.contains(words) && answer.text.contains("role=\"alert\""), "\(wanted)")
        }
        #expect(try await find(reader, "token", "x").status == .badRequest)
        let shown = try await reader.get("/subscribers/3").text
        let hash = try #require(shown.firstMatch(of: /<bdi>([0-9a-f]{64})<\/bdi>/).map { String($0.1) })
        #expect(try await find(reader, "token_hash", " \(hash.uppercased()) ").headers[.location] == "/subscribers/3")
        let other = try await find(reader, "token_hash", String(repeating: "0", count: 64))
        #expect(other.text.contains("Nobody was found"))
        // Without a search there is no list.
        #expect(try await !reader.get("/subscribers").text.contains("<table"))
        let page = try await reader.get("/subscribers/1").text
        #expect(
            page.contains("cu…") && !page.contains("customer-4711")
                && !page.contains("method=\"post\" action=\"/subscribers/1")
        )
        #expect(try await reader.get("/subscribers/99").status == .notFound)
        #expect(try await reader.get("/subscribers/x").status == .notFound)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("looked somebody up") && audit.contains("looked at a subscription"))
        #expect(!audit.contains("customer-4711"))
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
        for path in ["/subscribers/1", "/subscribers/1/forget", "/quarantine"] {
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
        for (action, words) in [
            ("lift", "The quarantine is lifted"), ("opt_out", "this person wants no messages"),
            ("opt_in", "wants messages again"),
        ] {
            let answer = try await admin.post("/subscribers/1/\(action)")
            let location = try #require(answer.headers[.location])
            #expect(answer.status == .seeOther && location == "/subscribers/1?done=\(action)")
            #expect(try await admin.get(location).text.contains(words), "\(action)")
        }
        #expect(try await admin.get("/subscribers/1").text.contains("gets messages"))
        // It is in no quarantine any more: the database says no.
        #expect(try await admin.post("/subscribers/1/lift").status == .conflict)
        let sure = try await admin.get("/subscribers/1/forget")
        #expect(sure.text.contains("Forget this user for good?") && sure.text.contains("customer-4711"))
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
        let answer = try await oda.post("/quarantine/3/lift")
        let location = try #require(answer.headers[.location])
        let after = try await oda.get(location).text
        #expect(after.contains("The quarantine is lifted") && shown(after).prefix(3) == [1, 2, 4])
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/quarantine").text.contains("/lift"))
        await site.close()
    }
}
