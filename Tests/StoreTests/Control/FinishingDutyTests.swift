import PostgresClient
import TestSupport
import Testing

@testable import Store

/// The duty that runs each second on every host must not wait for other sessions, or read rows that do not concern it.
@Suite("The finishing duty in parallel with others")
struct FinishingDutyTests {
    @Test(
        "The end of a stopped delivery is recorded although another transaction locks a different one",
        .timeLimit(.minutes(1))
    )
    func endedBesideALock() async throws {
        let (fixture, held) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let free = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 20)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET state = 'done', rest_status = 7, rest_reason = 'stopped', finished_at = now()"
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery SET state = 'stopped'")
        let holder = try await fixture.hold("SELECT FROM pushmta_engine.delivery WHERE id = \(held) FOR UPDATE")
        try await fixture.store.finishRest()
        #expect(try await fixture.store.deliveryProgress(free).finishedAt != nil)
        #expect(try await fixture.store.deliveryProgress(held).finishedAt == nil)
        try await holder.run(script: "COMMIT")
        try await fixture.store.finishRest()
        #expect(try await fixture.store.deliveryProgress(held).finishedAt != nil)
        await holder.close()
    }

    @Test("The search through waiting parts reads one of a paused delivery's many")
    func paused() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 4000, partSize: 4)
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.parts(id, "waiting") == 1000)
        // A delivery that is not paused; otherwise there would be nothing to search for.
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        try await fixture.sql("ANALYZE")
        let connection = try await fixture.database.connect()
        try await connection.run(script: "SET enable_seqscan = off")
        let rows = try await connection.execute(
            PostgresStatement(
                "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) \(Store.dueSQL)",
                prepare: false
            )
        )
        await connection.close()
        let lines = try (0..<rows.rowCount).map { try rows.text($0, 0) }
        let scans = lines.filter { $0.contains("delivery_part_waiting") }
        let plan = lines.joined(separator: "\n")
        // Since PostgreSQL 18 with two decimals, as the mean of all loops.
        let read = scans.map { $0.firstMatch(of: /\(actual rows=([0-9]+)(?:\.[0-9]+)?\s/).map { String($0.1) } }
        #expect(read.contains("1"), "\(plan)")
        #expect(read.allSatisfy { $0 == "1" || $0 == "0" }, "\(plan)")
    }
}
