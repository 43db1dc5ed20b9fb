import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The database's state of a gateway in trouble")
struct GatewayTroubleStoreTests {
    private func enter(_ fixture: StoreFixture, keepsProber: Bool = true) async throws {
        try await fixture.store.enterTrouble(
            application: 1,
            account: 1,
            reason: "503 ServiceUnavailable",
            nextProbeIn: .seconds(3),
            keepsProber: keepsProber
        )
    }

    private func claimProber(_ fixture: StoreFixture, _ child: Int64) async throws -> Bool {
        try await fixture.store.claimProber(application: 1, account: 1, child: child, lease: .seconds(15))
    }

    private func due(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.gateway_trouble SET next_probe_at = now() - interval '1 ms'")
    }

    /// The children no longer report.
    private func forgetChildren(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.mta_child SET last_heartbeat = now() - interval '1 minute'")
    }

    private func seconds(_ fixture: StoreFixture, _ column: String) async throws -> Int64 {
        try required(
            try await fixture.sql(
                "SELECT round(extract(epoch FROM \(column) - now()))::bigint FROM pushmta_engine.gateway_trouble"
            )
        )
    }

    @Test("Only one prober claims, and its right ends with its report")
    func prober() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let (first, second) = (try await fixture.child(), try await fixture.child())
        try await enter(fixture)
        #expect(try await fixture.claim().isEmpty)
        #expect(try await fixture.store.readyWork().isEmpty)
        #expect(try await !claimProber(fixture, first), "no probe is due")
        try await due(fixture)
        #expect(try await fixture.store.readyWork().isEmpty, "a child that lives probes")
        try await forgetChildren(fixture)
        #expect(try await fixture.store.readyWork().map(\.readyParts) == [1])
        #expect(try await claimProber(fixture, first))
        #expect(try await !claimProber(fixture, second))
        #expect(try await fixture.store.readyWork().isEmpty)
        try await fixture.sql("UPDATE pushmta_engine.gateway_trouble SET prober_until = now() - interval '1 ms'")
        #expect(try await claimProber(fixture, second), "the first was not heard of")
        let isFirst = try await fixture.store.renewProber(
            application: 1,
            account: 1,
            child: first,
            lease: .seconds(15),
            reason: nil,
            nextProbeIn: nil
        )
        #expect(!isFirst)
        try await fixture.store.endTrouble(application: 1, account: 1)
        #expect(try await fixture.claim(limit: 9).count == 3)
    }

    @Test("A pause that the gateway has asked for outlives the prober")
    func pause() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let child = try await fixture.child()
        try await enter(fixture)
        try await due(fixture)
        #expect(try await claimProber(fixture, child))
        let isProber = try await fixture.store.renewProber(
            application: 1,
            account: 1,
            child: child,
            lease: .seconds(15),
            reason: "503 ServiceUnavailable",
            nextProbeIn: .seconds(600)
        )
        #expect(isProber)
        #expect(try await (590...601).contains(seconds(fixture, "next_probe_at")))
        #expect(try await fixture.alarms("gateway_trouble").map(\.subject) == ["shop-ios"])
        #expect(try await fixture.sql("SELECT probes FROM pushmta.gateway_trouble") == 1)
        // It was killed, and its right has expired.
        try await fixture.sql("UPDATE pushmta_engine.gateway_trouble SET prober_until = now() - interval '1 ms'")
        #expect(try await fixture.store.readyWork().isEmpty)
        #expect(try await !claimProber(fixture, child))
    }

    @Test("A database clock set back by an hour does not make anything wait for that hour", arguments: [true, false])
    func clock(_ hasProber: Bool) async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let child = try await fixture.child()
        try await enter(fixture)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.gateway_trouble SET next_probe_at = now() + interval '1 hour', changed_at = now() + interval '1 hour',
                prober = \(hasProber ? "7" : "NULL"), prober_until = \(hasProber ? "now() + interval '1 hour'" : "NULL")
            """
        )
        // A child with further answers reports it again.
        try await enter(fixture)
        _ = try await fixture.store.finishRest()
        try await forgetChildren(fixture)
        #expect(try await fixture.store.readyWork().map(\.readyParts) == [1])
        #expect(try await claimProber(fixture, child))
        #expect(try await !claimProber(fixture, child + 1), "only once")
        #expect(try await seconds(fixture, "next_probe_at") <= 0, "also the next prober waits for nobody")
        try await fixture.store.endTrouble(application: 1, account: 1)
        try await fixture.sql("UPDATE pushmta_engine.gateway_trouble SET opened_at = now() + interval '1 hour'")
        let state = try await fixture.store.sendingState(application: 1, account: 1, deliveries: [])
        #expect(state.trouble == nil, "an end long ago slows nobody down")
    }

    @Test("Deliveries take turns as probes")
    func turns() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let child = try await fixture.child()
        try await enter(fixture)
        let claim = { (tried: Set<Int64>) in
            try await fixture.store.claimTroubleProbe(application: 1, account: 1, child: child, except: tried)
        }
        #expect(try await claim([delivery]) == nil)
        #expect(try await claim([])?.deliveryID == delivery)
    }

    @Test("A gateway in trouble without waiting messages raises no alarm")
    func quiet() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        try await enter(fixture)
        let alarm = try required(try await fixture.alarms("gateway_trouble").first)
        #expect(
            alarm.severity == .critical && alarm.subject == "shop-ios" && alarm.text.contains("20 messages wait"),
            "\(alarm)"
        )
        // A child reports the same trouble for its application.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.application_health (application_id, state, reason)
            SELECT a.id, 'closed', 'the gateway cannot be reached' FROM pushmta_engine.application a WHERE a.name = 'shop-ios'
            ON CONFLICT (application_id) DO UPDATE SET reason = excluded.reason
            """
        )
        #expect(try await fixture.alarms("application_trouble").isEmpty, "one trouble is one alarm")
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET state = 'done', rest_status = 7")
        #expect(try await fixture.alarms("gateway_trouble").isEmpty)
        #expect(try await fixture.alarms("application_trouble").count == 1)
    }
}
