import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Preparations with an unreadable view")
struct PreparationWaitTests {
    /// A hundred people; the view divides by a number that is zero for one of them.
    private func make() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'user-' || id")
        try await fixture.sql("CREATE TABLE numbers (key text PRIMARY KEY, n integer)")
        try await fixture.sql("INSERT INTO numbers SELECT 'user-' || g, g - 70 FROM generate_series(1, 100) g")
        try await fixture.sql("CREATE VIEW person AS SELECT key, 1000 / n AS share FROM numbers")
        try await fixture.store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await fixture.store.setService(name: "shop", mapping: "m")
        return fixture
    }

    private func claim(_ fixture: StoreFixture) async throws -> PreparationJob? {
        try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first
    }

    @Test("They wait with the reason, hold up no others, and continue where they stopped")
    func data() async throws {
        let fixture = try await make()
        let store = fixture.store
        let id = try await fixture.filteredDelivery("mapping.share is not null")
        let job = try required(try await claim(fixture))
        // The first chunks have no person with a zero.
        _ = try await store.prepareChunk(job, partSize: 50, partsPerChunk: 1)
        var reason = ""
        do {
            _ = try await store.prepareChunk(job, partSize: 50, partsPerChunk: 1)
        } catch {
            if case .waits(let words, isTimeout: false) = store.decision(on: error, of: job) { reason = words }
        }
        #expect(
            reason == #"the view public.person of target mapping "m" cannot be read: division by zero (SQLSTATE 22012)"#
        )
        try await store.postponePreparation(id, reason: reason)
        let progress = try await store.deliveryProgress(id)
        #expect(progress.state == .preparing && progress.waitingReason == reason && progress.stateReason.isEmpty)
        #expect(progress.target == 50, "what is prepared is sent meanwhile")
        let alarm = try required(try await fixture.alarms("delivery_waiting").first)
        #expect(alarm.subject == String(id) && alarm.text.hasPrefix("it cannot be prepared now"))
        #expect(alarm.text.hasSuffix(": " + reason), "\(alarm)")

        let other = try await fixture.startedDelivery()
        #expect(try await claim(fixture)?.deliveryID == other)
        #expect(
            try await store.claimDeliveriesToPrepare(host: fixture.host, except: [other]).first == nil,
            "its time has not come"
        )
        try await fixture.sql("UPDATE numbers SET n = 1 WHERE n = 0")
        let wait = "UPDATE pushmta_engine.delivery SET wait_until = now() - interval '1 s' WHERE id = \(id)"
        try await fixture.sql(wait)
        let resumed = try required(try await store.claimDeliveriesToPrepare(host: fixture.host, except: [other]).first)
        #expect(resumed.deliveryID == id && resumed.resumed)
        #expect(try await store.deliveryProgress(id).waitingReason == reason, "nothing is proven yet")
        while try await !store.prepareChunk(resumed).done {}
        let prepared = try await store.deliveryProgress(id)
        #expect(prepared.target == 100 && prepared.state == .inProgress && prepared.waitingReason.isEmpty)
        #expect(try await fixture.alarms("delivery_waiting").isEmpty)
    }

    @Test("They wait longer each time, and a clock set back keeps none waiting")
    func waits() async throws {
        let fixture = try await make()
        let id = try await fixture.filteredDelivery("mapping.share is not null")
        for seconds: Int64 in [5, 10, 20, 40, 60, 60] {
            _ = try required(try await claim(fixture))
            let began = try required(try await fixture.sql("SELECT extract(epoch FROM clock_timestamp())::bigint"))
            try await fixture.store.postponePreparation(id, reason: "x")
            let until = try required(
                try await fixture.sql(
                    "SELECT extract(epoch FROM wait_until)::bigint FROM pushmta_engine.delivery WHERE id = \(id)"
                )
            )
            let now = try required(try await fixture.sql("SELECT extract(epoch FROM clock_timestamp())::bigint"))
            #expect((began...now).contains(until - seconds))
            #expect(try await claim(fixture) == nil)
            try await fixture.sql("UPDATE pushmta_engine.delivery SET wait_until = now() + interval '1 hour'")
        }
        #expect(try await claim(fixture)?.deliveryID == id)
    }

    @Test("Errors without a view make the delivery wait too, with a reason that has no SQL")
    func own() async throws {
        let fixture = try await make()
        _ = try await fixture.startedDelivery()
        let job = try required(try await claim(fixture))
        let error = PostgresError(
            code: .sqlState("22003"),
            message: "integer out of range",
            statement: "WITH delivery AS"
        )
        #expect(fixture.store.decision(on: error, of: job) == .waits("integer out of range (SQLSTATE 22003)"))
        for state in ["42601", "42883", "42501", "23514", "22P02"] {
            let error = PostgresError(code: .sqlState(state), message: "wrong")
            #expect(fixture.store.decision(on: error, of: job) == .waits("wrong (SQLSTATE \(state))"), "\(state)")
        }
        let lost = PostgresError(code: .connection, message: "lost")
        #expect(fixture.store.decision(on: lost, of: job) == .passes)
    }
}
