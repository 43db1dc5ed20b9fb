import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Late token events of a bad time")
struct VoidTokenEventTests {
    /// Answers that refuse the tokens of a part's first messages.
    private func refusals(
        _ part: ClaimedPart,
        _ loaded: LoadedPart,
        rows: Range<Int>,
        since: Int64? = nil
    ) -> OutcomeBatch {
        var batch = OutcomeBatch()
        for row in rows {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .failed,
                httpStatus: since == nil ? 400 : 410,
                reason: since == nil ? "BadDeviceToken" : "Unregistered",
                tokenEffect: .invalid(sinceMilliseconds: since)
            )
        }
        return batch
    }

    private func events(_ fixture: StoreFixture, _ state: String) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = '\(state)'") ?? -1
    }

    private func enabled(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE enabled") ?? -1
    }

    private func trouble(_ store: Store, held: Bool = true) async throws {
        try await store.openCircuit(application: 1, reason: "doubtful", remedy: "check", holdsTokenEffects: held)
        try await store.closeCircuit(application: 1)
    }

    @Test("They are undone, unless the gateway dates them; events of later parts count")
    func late() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 1000)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        try await trouble(fixture.store)
        // Events that the owner stores only now, events from a journal, and a genuine refusal among them.
        let now = try required(try await fixture.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"))
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 0..<3))
        _ = try await fixture.other.storeFacts(refusals(part, loaded, rows: 3..<5))
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 5..<6, since: now))
        #expect(try await fixture.store.applyTokenEvents() == 6)
        #expect(try await events(fixture, "undone") == 5)
        #expect(try await events(fixture, "applied") == 1)
        #expect(try await enabled(fixture) == 19)
        // A void event does not block a later one, even if both arrive together.
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 6..<8))
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        let next = try required(try await fixture.claim().first)
        let reloaded = try await fixture.store.loadPart(next, fieldNames: [])
        #expect(reloaded.subscriptionIDs[5..<7] == loaded.subscriptionIDs[6..<8])
        _ = try await fixture.store.storeOutcomes(refusals(next, reloaded, rows: 5..<7))
        #expect(try await fixture.store.applyTokenEvents() == 4)
        #expect(try await events(fixture, "undone") == 7)
        #expect(try await events(fixture, "applied") == 3)
        #expect(try await enabled(fixture) == 17)
    }

    @Test("A part counts by its release, if it was held until then")
    func heldPart() async throws {
        let (fixture, id) = try await StoreFixture.analysed(messages: 20)
        try await trouble(fixture.store)
        try await fixture.store.startDelivery(id)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 0..<2))
        #expect(try await fixture.store.applyTokenEvents() == 2)
        #expect(try await events(fixture, "applied") == 2)
        // What comes after its release voids its reports as those of any other part.
        try await trouble(fixture.store)
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 2..<4))
        #expect(try await fixture.store.applyTokenEvents() == 2)
        #expect(try await events(fixture, "undone") == 2)
    }

    @Test("A circuit that held no effects voids nothing; a clock set back changes nothing")
    func bounds() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 1000)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        try await trouble(fixture.store, held: false)
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 0..<1))
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await events(fixture, "applied") == 1)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET created_at = now() + interval '1 hour'")
        try await trouble(fixture.store)
        try await trouble(fixture.store, held: false)
        _ = try await fixture.store.storeOutcomes(refusals(part, loaded, rows: 1..<2))
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await events(fixture, "undone") == 1)
        #expect(try await enabled(fixture) == 19)
    }
}
