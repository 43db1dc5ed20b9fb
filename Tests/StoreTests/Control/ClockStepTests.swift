import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// A step back of the clock leaves rows that claim to be from the future.
@Suite("A database clock that is set back")
struct ClockStepTests {
    private let later = "interval '20 minutes'"

    @Test("Parts wait no longer than before, and retry parts just as long")
    func parts() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let parts = "UPDATE pushmta_engine.delivery_part SET"
        try await fixture.sql(
            "\(parts) created_at = now() + \(later), not_before = now() + \(later) WHERE delivery_id = \(id)"
        )
        try await fixture.sql(
            """
            \(parts) not_before = not_before + interval '1 minute'
            WHERE id = (SELECT max(id) FROM pushmta_engine.delivery_part WHERE delivery_id = \(id))
            """
        )
        #expect(try await fixture.claim(limit: 2).isEmpty)
        _ = try await fixture.store.finishRest()
        #expect(try await fixture.claim(limit: 2).count == 1)
        let wait = "SELECT count(*) FROM pushmta_engine.delivery_part WHERE delivery_id = \(id) AND state = 'ready'"
        #expect(
            try await fixture.sql("\(wait) AND not_before BETWEEN now() + interval '50 s' AND now() + interval '60 s'")
                == 1
        )
    }

    @Test("A delivery started for now starts now, a scheduled one at its intended time")
    func starts() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 2, partSize: 2)
        let now = try await fixture.startedDelivery()
        let scheduled = try await fixture.startedDelivery()
        let deliveries = "UPDATE pushmta_engine.delivery SET changed_at = now() + \(later), start_at = now() + \(later)"
        try await fixture.sql("\(deliveries) WHERE id = \(now)")
        try await fixture.sql("\(deliveries) + interval '1 hour' WHERE id = \(scheduled)")
        _ = try await fixture.store.finishRest()
        let due = "SELECT count(*) FROM pushmta_engine.delivery WHERE state = 'pending' AND start_at <= now()"
        #expect(try await fixture.sql("\(due) AND id = \(now)") == 1)
        #expect(try await fixture.sql("\(due) AND id = \(scheduled)") == 0)
    }

    @Test("A probe comes as soon as it would have come")
    func probes() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 2, partSize: 2)
        let application = try required(try await fixture.claim().first).applicationID
        try await fixture.store.openCircuit(application: application, reason: "refused", remedy: "set another key")
        try await fixture.sql(
            """
            UPDATE pushmta_engine.application_health
            SET changed_at = now() + \(later), next_probe_at = now() + \(later) + interval '5 s'
            """
        )
        _ = try await fixture.store.finishRest()
        let soon =
            "SELECT count(*) FROM pushmta_engine.application_health WHERE next_probe_at <= now() + interval '5 s'"
        #expect(try await fixture.sql(soon) == 1)
    }

    @Test("A gateway in trouble is probed as soon as it would have been, even if its prober has died")
    func troubles() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 2, partSize: 2)
        let part = try required(try await fixture.claim().first)
        let accounts = "SELECT external_account_id FROM pushmta_engine.application WHERE id = \(part.applicationID)"
        let account = Int32(try required(try await fixture.sql(accounts)))
        let application = part.applicationID
        try await fixture.store.enterTrouble(
            application: application,
            account: account,
            reason: "503",
            nextProbeIn: .zero,
            keepsProber: true
        )
        func claim(_ child: Int64) async throws -> Bool {
            try await fixture.store.claimProber(
                application: application,
                account: account,
                child: child,
                lease: .zero
            )
        }
        let troubles = "UPDATE pushmta_engine.gateway_trouble SET"
        #expect(try await claim(1))
        try await fixture.sql(
            """
            \(troubles) began_at = began_at + \(later), next_probe_at = next_probe_at + \(later),
                prober_until = prober_until + \(later), changed_at = changed_at + \(later)
            """
        )
        #expect(try await !claim(2))
        _ = try await fixture.store.finishRest()
        #expect(try await claim(2))
        // The same when sending resumes.
        try await fixture.store.endTrouble(application: application, account: account)
        try await fixture.sql("\(troubles) opened_at = opened_at + \(later), changed_at = changed_at + \(later)")
        _ = try await fixture.store.finishRest()
        let opened = "SELECT count(*) FROM pushmta_engine.gateway_trouble"
        #expect(try await fixture.sql("\(opened) WHERE opened_at <= now() AND changed_at <= now()") == 1)
    }

    @Test("Numbers for int32 message ids continue after the last ones, whenever those were reserved")
    func messageIDs() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createApplication(
            NewApplication(
                service: "shop",
                name: "old",
                platform: .ios,
                integrationKey: "old",
                messageIDFormat: .int32,
                account: "apns"
            )
        )
        try await fixture.store.seedSubscriptions(application: "old", count: 30)
        var bases: [Int64?] = []
        for _ in 0..<3 {
            let id = try await fixture.startedDelivery(["old"])
            try await fixture.prepare()
            bases.append(try await fixture.store.deliveryForSending(id).messageIDBase)
        }
        #expect(bases == [0, 10_000, 20_000])
    }
}
