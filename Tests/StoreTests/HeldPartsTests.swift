import Foundation
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Parts that may not leave yet must not make claims slower, however many there are.
@Suite("Claims beside held parts")
struct HeldPartsTests {
    private static let parts = 4

    @Test("A claim reads the same pages beside 1,000,000 held and planned parts as without them")
    func claim() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 400, partSize: 20)
        // Enough that both times the index is used.
        try await add(20_000, "'ready'", of: delivery, fixture)
        let (pickedBefore, claimedBefore) = try await pages(fixture)
        try await add(1_000_000, "CASE WHEN n % 2 = 0 THEN 'held' ELSE 'planned' END", of: delivery, fixture)
        let (picked, claimed) = try await pages(fixture)
        #expect(picked.count <= pickedBefore.count, "\(picked.plan)")
        // The primary key and the index of a delivery's parts become a level deeper, for each part that is changed.
        #expect(claimed.count <= claimedBefore.count + 5 * Self.parts, "\(claimed.plan)")
        #expect(picked.plan.contains("delivery_part_claim") && claimed.plan.contains("delivery_part_claim"))
    }

    private func add(_ count: Int, _ state: String, of delivery: Int64, _ fixture: StoreFixture) async throws {
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size, state)
            SELECT p.delivery_id, p.application_id, p.external_account_id, p.log_day, 1, \(state)
            FROM (SELECT * FROM pushmta_engine.delivery_part WHERE delivery_id = \(delivery) LIMIT 1) p
            CROSS JOIN generate_series(1, \(count)) n
            """
        )
        let connection = try await fixture.database.connect()
        try await connection.execute(
            PostgresStatement("VACUUM (ANALYZE) pushmta_engine.delivery_part", prepare: false)
        )
        await connection.close()
    }

    private struct Pages {
        let count: Int
        let plan: String
    }

    /// What the search for parts and the whole claim read. The claim is rolled back.
    private func pages(_ fixture: StoreFixture) async throws -> (picked: Pages, claimed: Pages) {
        let connection = try await fixture.database.connect()
        let child = try await fixture.child()
        try await connection.run(
            script: """
                SET plan_cache_mode = force_generic_plan;
                PREPARE picked(integer, integer, bigint, bigint) AS SELECT p.id \(Store.duePartsSQL(more: "AND $3 > 0"));
                PREPARE claimed(integer, integer, bigint, bigint) AS \(Store.claimSQL)
                """
        )
        try await connection.run(script: "BEGIN")
        var found: [Pages] = []
        for statement in ["picked", "claimed"] {
            let call = "EXECUTE \(statement)(1, 1, \(child), \(Self.parts))"
            // The first call fills the caches of the session.
            _ = try await explain(call, connection)
            try await connection.run(script: "ROLLBACK; BEGIN")
            found.append(try await explain(call, connection))
            try await connection.run(script: "ROLLBACK; BEGIN")
        }
        await connection.close()
        return (found[0], found[1])
    }

    private func explain(_ call: String, _ connection: PostgresConnection) async throws -> Pages {
        let lines = try await connection.execute(
            PostgresStatement("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS) \(call)", prepare: false)
        )
        let plan = try (0..<lines.rowCount).map { try lines.text($0, 0) }.joined(separator: "\n")
        // The first line of buffers is the total.
        let match = plan.firstMatch(of: /shared hit=(\d+)(?: read=(\d+))?/)
        let count = match.map { (Int($0.1) ?? 0) + ($0.2.flatMap { Int($0) } ?? 0) }
        return Pages(count: try #require(count), plan: plan)
    }
}
