import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Subscribers in the console")
struct PeopleTests {
    /// Subscriptions from 1 to a count; the first two belong to one person.
    private func fixture(_ count: Int64 = 5) async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: count)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'customer-4711' WHERE id <= 2")
        return fixture
    }

    private func isThere(_ fixture: StoreFixture, _ id: Int, _ condition: String) async throws -> Bool {
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.subscription WHERE id = \(id) AND \(condition)"
        ) == 1
    }

    private func noted(_ fixture: StoreFixture, _ condition: String) async throws -> Int64? {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.audit_log WHERE \(condition)")
    }

    private func expect(_ code: StoreError.Code, _ work: () async throws -> Void) async {
        do {
            try await work()
            Issue.record("it was not refused")
        } catch let error as StoreError {
            #expect(error.code == code, "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("A reader sees only the beginning of a user key; each look-up is logged with ids")
    func looks() async throws {
        let fixture = try await fixture()
        let (reader, oda) = (try await fixture.actor(.read), try await fixture.actor(.operate))
        let found = try await fixture.store.findSubscribers(.userKey, "customer-4711", limit: 10, by: oda)
        #expect(found.map(\.id).sorted() == [1, 2] && found.allSatisfy { $0.userKey == "customer-4711" })
        let masked = try await fixture.store.findSubscribers(.userKey, "customer-4711", limit: 10, by: reader)
        #expect(masked.map(\.userKey) == ["cu…", "cu…"])
        #expect(try await fixture.store.findSubscribers(.userKey, "customer-4711", limit: 1, by: reader).count == 1)
        #expect(try await fixture.store.findSubscribers(.subscription, "3", limit: 10, by: reader).map(\.id) == [3])
        for text in ["customer-471", "CUSTOMER-4711", "%", ""] {
            #expect(try await fixture.store.findSubscribers(.userKey, text, limit: 10, by: reader).isEmpty, "\(text)")
        }
        #expect(try await fixture.store.findSubscribers(.subscription, "1 OR true", limit: 10, by: reader).isEmpty)
        #expect(try await noted(fixture, "action = 'subscriber.find'") == 9)
        #expect(try await noted(fixture, "action = 'subscriber.find' AND detail = 'nobody' AND who = 'read'") == 5)
        #expect(try await noted(fixture, "to_jsonb(audit_log)::text LIKE '%customer%'") == 0, "what was typed stays")

        let shown = try await fixture.store.subscriber(1, by: oda)
        #expect(shown.userKey == "customer-4711" && !shown.isMasked && shown.others == 1 && shown.service == "shop")
        let half = try await fixture.store.subscriber(1, by: reader)
        #expect(half.userKey == "cu…" && half.isMasked)
        #expect(try await noted(fixture, "action = 'subscriber.show' AND subject = '1' AND origin = '192.0.2.1'") == 2)
        await expect(.notFound) { _ = try await fixture.store.subscriber(99, by: reader) }
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'ab123' WHERE id = 3")
        #expect(try await fixture.store.subscriber(3, by: reader).userKey == "…", "a short one is not halved")
    }

    @Test("A push token is looked up in every application that has it, is not recorded, and shown as its SHA-256")
    func tokens() async throws {
        let fixture = try await fixture()
        let reader = try await fixture.actor(.read)
        try await fixture.sql(#"UPDATE pushmta_engine.subscription SET push_token = 'ab\x\' WHERE id = 4"#)
        // printf %s 'ab\x\' | sha256sum
        let known = "db49f0d97ee03479c2b1043647918c16d03779562c825f009efaecab689f5b07"
        let found = try await fixture.store.findSubscribers(.pushToken, #"ab\x\"#, limit: 10, by: reader)
        #expect(found.map(\.id) == [4])
        let shown = try await fixture.store.subscriber(4, by: reader)
        #expect(shown.quarantine.tokenHash == known)
        for text in [known, "AB", ""] {
            #expect(try await fixture.store.findSubscribers(.pushToken, text, limit: 10, by: reader).isEmpty, "\(text)")
        }
        // In the form in which people copy it, and for a disabled one, too.
        let digits = String(repeating: "ab12", count: 16)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET push_token = '\(digits)', enabled = false WHERE id = 3"
        )
        let disabled = try await fixture.store.findSubscribers(.pushToken, digits.uppercased(), limit: 10, by: reader)
        #expect(disabled.map(\.id) == [3])
        #expect(try await noted(fixture, "action = 'subscriber.find' AND subject = 'push_token' AND detail = '4'") == 1)
        #expect(try await noted(fixture, "to_jsonb(audit_log)::text ~* 'ab12|ab.{1,2}x'") == 0)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET enabled = false, disabled_reason = 'forgotten' WHERE id = 4"
        )
        #expect(try await fixture.store.findSubscribers(.pushToken, #"ab\x\"#, limit: 10, by: reader).isEmpty)
        #expect(try await fixture.store.subscriber(4, by: reader).quarantine.tokenHash == "")
    }

    @Test("Roles: only users with one change anything, and only an administrator forgets")
    func roles() async throws {
        let fixture = try await fixture()
        let (reader, oda) = (try await fixture.actor(.read), try await fixture.actor(.operate))
        let nobody = ConsoleActor(tokenHash: [UInt8](repeating: 0, count: 32), idleSeconds: 600, address: "")
        for action in SubscriberAction.allCases {
            await expect(.invalid) { try await fixture.store.change(action, subscription: 1, by: reader) }
        }
        await expect(.invalid) { _ = try await fixture.store.forget(userOf: 1, by: oda) }
        await expect(.invalid) { _ = try await fixture.store.beginOutcomes(ofDelivery: 1, by: reader) }
        await expect(.invalid) { _ = try await fixture.store.outcomes(ofDelivery: 1, numbers: 1...9, by: reader) }
        await expect(.invalid) {
            _ = try await fixture.store.findSubscribers(.subscription, "1", limit: 1, by: nobody)
        }
        await expect(.invalid) { _ = try await fixture.store.subscriber(1, by: nobody) }
        await expect(.invalid) { _ = try await fixture.store.history(ofSubscription: 1, limit: 1, by: nobody) }
        await expect(.invalid) { _ = try await fixture.store.quarantineCounts(limit: 1, by: nobody) }
        await expect(.invalid) { _ = try await fixture.store.quarantined(limit: 1, by: nobody) }
        #expect(try await isThere(fixture, 1, "user_key = 'customer-4711' AND NOT opted_out"))
        #expect(try await noted(fixture, "action LIKE 'subscriber.%'") == 0)
        try await fixture.store.change(.optOut, subscription: 1, by: oda)
        #expect(try await isThere(fixture, 1, "opted_out"))
        try await fixture.store.change(.optIn, subscription: 1, by: oda)
        #expect(try await isThere(fixture, 1, "NOT opted_out"))
        #expect(
            try await noted(fixture, "action IN ('subscriber.opt_out', 'subscriber.opt_in') AND subject = '1'") == 2
        )
    }

    @Test("Lifting a quarantine undoes the reports about the token, and nothing else")
    func lift() async throws {
        let fixture = try await fixture()
        let oda = try await fixture.actor(.operate)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantine_reason = 'BadDeviceToken', quarantined_at = now(),
                soft_errors = 3, enabled = false, disabled_at = now(),
                disabled_reason = CASE id WHEN 1 THEN 'token_invalid' ELSE 'unregistered' END
            WHERE id <= 3
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason, state)
            VALUES (1, 1, 'invalid', 'BadDeviceToken', 'applied'), (1, 1, 'soft_error', 'x', 'pending'),
                (1, 1, 'opt_out', '', 'applied'), (1, 2, 'soft_error', 'x', 'pending')
            """
        )
        try await fixture.store.change(.lift, subscription: 1, by: oda)
        let isFree = "quarantine_status = 0 AND quarantine_reason = '' AND quarantined_at IS NULL AND soft_errors = 0"
        #expect(try await isThere(fixture, 1, "\(isFree) AND enabled AND disabled_reason = '' AND exclusion = 0"))
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.token_event WHERE subscription_id = 1 AND state = 'undone'"
            ) == 2
        )
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'undone'") == 2,
            "of others nothing"
        )
        await expect(.conflict) { try await fixture.store.change(.lift, subscription: 1, by: oda) }
        await expect(.notFound) { try await fixture.store.change(.lift, subscription: 99, by: oda) }
        #expect(try await noted(fixture, "action = 'subscriber.lift' AND subject = '1'") == 1)
        try await fixture.store.liftQuarantine(2)
        #expect(try await isThere(fixture, 2, "\(isFree) AND NOT enabled"), "it is disabled for another reason")
        // The token now belongs to another subscription.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token)
            SELECT application_id, push_token FROM pushmta_engine.subscription WHERE id = 3
            """
        )
        await expect(.conflict) { try await fixture.store.liftQuarantine(3) }
    }

    @Test("A forgotten user is deleted, and the audit log does not say who it was")
    func forget() async throws {
        let fixture = try await fixture()
        let admin = try await fixture.actor(.admin)
        let gone = try await fixture.store.forget(userOf: 1, by: admin)
        #expect(gone.subscriptions == 2)
        for id in [1, 2] {
            #expect(
                try await isThere(
                    fixture,
                    id,
                    "user_key = '' AND disabled_reason = 'forgotten' AND push_token = 'none'"
                )
            )
        }
        #expect(try await isThere(fixture, 3, "enabled AND user_key <> ''"))
        #expect(
            try await noted(
                fixture,
                "action = 'subscriber.forget' AND subject = '1' AND detail LIKE 'shop: subscriptions 2,%'"
            ) == 1
        )
        #expect(try await noted(fixture, "to_jsonb(audit_log)::text LIKE '%customer%'") == 0)
        await expect(.invalid) { _ = try await fixture.store.forget(userOf: 1, by: admin) }
        await expect(.notFound) { _ = try await fixture.store.forget(userOf: 99, by: admin) }
        #expect(try await noted(fixture, "action = 'subscriber.forget'") == 1)
    }

    @Test("The quarantine is counted up to a limit, and listed by key")
    func quarantine() async throws {
        let fixture = try await fixture(30)
        let reader = try await fixture.actor(.read)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantined_at = now() - id * interval '1 minute',
                quarantine_reason = CASE WHEN id % 3 = 0 THEN 'Unregistered: gone' ELSE 'BadDeviceToken' END, enabled = id % 3 = 0
            WHERE id <= 9
            """
        )
        // Two entries with the same time.
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET quarantined_at = date_trunc('hour', now()) WHERE id IN (8, 9)"
        )
        let counts = try await fixture.store.quarantineCounts(limit: 100, by: reader)
        #expect(counts.map(\.count) == [6, 3] && counts.map(\.reason) == ["BadDeviceToken", "Unregistered"])
        #expect(
            counts.map(\.isDead) == [true, false] && counts.allSatisfy { $0.application == "shop-ios" && !$0.isCut }
        )
        let some = try await fixture.store.quarantineCounts(limit: 5, by: reader)
        #expect(some.map(\.count).reduce(0, +) == 5 && some.allSatisfy(\.isCut))
        var (seen, place): ([Int64], QuarantinePlace?) = ([], nil)
        for _ in 0..<5 {
            let rows = try await fixture.store.quarantined(from: place, limit: 2, by: reader)
            seen += rows.map(\.id)
            guard let last = rows.last else { break }
            place = QuarantinePlace(before: last.since, below: last.id)
        }
        #expect(seen.sorted() == Array(1...9) && Set(seen).count == 9)
        #expect(Array(seen.filter { $0 < 8 }) == Array(1...7), "the newest first")
    }
}
