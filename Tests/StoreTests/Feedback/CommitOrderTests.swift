import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Transactions that commit in a different order than their rows were numbered.
@Suite("Late commits are not missed")
struct CommitOrderTests {
    @Test("Token events")
    func tokenEvents() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        func insert(_ subscription: Int) -> String {
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason)
            VALUES (1, \(subscription), 'invalid', 'Unregistered')
            """
        }
        #expect(try await fixture.heartbeat())
        let rules = QuarantineSettings()
        let first = try await fixture.hold(insert(1))
        try await fixture.sql(insert(2))
        #expect(try await fixture.store.applyTokenEvents(worker: StoreFixture.worker, limit: 10, rules: rules) == 1)
        try await first.run(script: "COMMIT")
        #expect(try await fixture.store.applyTokenEvents(worker: StoreFixture.worker, limit: 10, rules: rules) == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE enabled") == 0)
        await first.close()
    }

    @Test("Outcomes: a part that ended first and commits last")
    func parts() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 10)
        let parts = try await fixture.claim(limit: 2)
        #expect(parts.count == 2)
        for part in parts {
            var batch = OutcomeBatch()
            batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<10, .sent)
            _ = try await fixture.store.storeOutcomes(batch)
        }
        let end = "UPDATE pushmta_engine.delivery_part SET state = 'done', finished_at = now() WHERE id ="
        let first = try await fixture.hold("\(end) \(parts[0].id)")
        try await fixture.sql("\(end) \(parts[1].id)")
        #expect(try await fixture.countAll().outcomes == 10)
        try await first.run(script: "COMMIT")
        #expect(try await fixture.countAll().outcomes == 10)
        #expect(try await fixture.assertStatistics(id))
        await first.close()
    }

    @Test("Outcomes: an answer after the end of its part, stored while the part is being counted")
    func lateAnswer() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.closing = [
            ClosingPart(part: part.id, token: part.fencingToken, restStatus: .canceled, restReason: "stopped")
        ]
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.heartbeat())
        // The counting session locks the part. The session with the answer waits, and finds the part counted.
        let worker = try await fixture.hold("SELECT pushmta_engine.count_parts(100)")
        let other = fixture.other
        let late = Task {
            var fact = OutcomeBatch()
            fact.append(part, loaded, rows: 0..<1, .sent)
            return try await other.storeFacts(fact).inserted
        }
        try await fixture.waitForLock()
        try await worker.run(script: "COMMIT")
        #expect(try await late.value == 1)
        #expect(try await fixture.countAll().late == 1)
        #expect(try await fixture.assertStatistics(id))
        await worker.close()
    }

    @Test("Hits, and the position of a spool that commits with them")
    func hits() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        let part = try required(try await fixture.claim().first)
        var outcomes = OutcomeBatch()
        outcomes.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<10, .sent)
        _ = try await fixture.store.storeOutcomes(outcomes)
        let first = try await fixture.hold(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind)
            SELECT id, 1, log_day, 1 FROM pushmta_engine.delivery
            """
        )
        try await fixture.hit(id, [(2, .received)], position: 1)
        #expect(try await fixture.countAll().hits == 1)
        try await first.run(script: "COMMIT")
        #expect(try await fixture.countAll().hits == 1)
        #expect(try await fixture.figure("received_unique") == 2)
        // A spool transaction with an unknown result is loaded again, and changes nothing.
        try await fixture.hit(id, [(2, .received)], position: 1)
        #expect(try await fixture.countAll().hits == 0)
        // Its position is committed together with its hits.
        let lost = try await fixture.hold(
            """
            UPDATE pushmta_engine.tracking_source SET position = 2;
            INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind)
            SELECT id, 3, log_day, 1 FROM pushmta_engine.delivery
            """
        )
        try await lost.run(script: "ROLLBACK")
        try await fixture.hit(id, [(3, .received)], position: 2)
        #expect(try await fixture.countAll().hits == 1)
        #expect(try await fixture.figure("received") == 3)
        await first.close()
        await lost.close()
    }
}
