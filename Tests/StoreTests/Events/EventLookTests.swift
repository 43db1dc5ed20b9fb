import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Pollers look every second, and so do alarms, so a look must not cost more because more events are stored or unread.
@Suite("Looks of consumers of events")
struct EventLookTests {
    @Test("A look and the list of consumers read the same pages beside 500,000 more events, unread or read")
    func pages() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        // Enough that the indexes are used each time.
        try await add(20_000, fixture)
        let lookBefore = try await pages("SELECT count(*) FROM pushmta.next_events('crm', 100)", fixture)
        let listBefore = try await pages("SELECT count(*) FROM pushmta.event_consumer WHERE is_behind", fixture)
        try await add(500_000, fixture)
        let look = try await pages("SELECT count(*) FROM pushmta.next_events('crm', 100)", fixture)
        // The indexes become a level deeper, for each row that is given, and for a few that are searched.
        #expect(look <= lookBefore + 300)
        // It has read everything.
        try await fixture.store.createConsumer(NewConsumer(name: "late"))
        #expect(try await pages("SELECT count(*) FROM pushmta.next_events('late', 100)", fixture) <= lookBefore)
        let list = try await pages("SELECT count(*) FROM pushmta.event_consumer WHERE is_behind", fixture)
        // Two consumers instead of one, and deeper indexes. The rows alone have some thousands of pages.
        #expect(list <= 2 * listBefore + 300)
        #expect(try await fixture.store.consumers().map(\.isBehind) == [true, false])
    }

    @Test("A look passes over a limited number of rows that a consumer does not want")
    func unwanted() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
        try await fixture.store.createConsumer(NewConsumer(name: "crm", kinds: ["device"]))
        try await add(450_000, fixture)
        try await fixture.store.setOptOut(1, true)
        var kinds: [String] = []
        var looks = 0
        while kinds.isEmpty, looks < 10 {
            kinds = try await fixture.store.nextEvents(of: "crm", limit: 10).map(\.kind)
            looks += 1
        }
        #expect(kinds == ["device.opted_out"] && looks == 3)
    }

    @Test("The event of a transaction that commits late is found without the rows that were recorded after it")
    func late() async throws {
        let fixture = try await StoreFixture.make()
        let late = try await fixture.hold(
            "INSERT INTO pushmta_engine.event (log_day, n, kind) SELECT pushmta_engine.event_day(), 1, 21"
        )
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        try await add(300_000, fixture)
        var read = 0
        while true {
            let count = try await fixture.store.nextEvents(of: "crm", limit: 100_000).count
            guard count > 0 else { break }
            read += count
        }
        #expect(read == 300_000)
        try await late.run(script: "COMMIT")
        await late.close()
        // 300,000 rows are 3,000 pages.
        #expect(try await pages("SELECT count(*) FROM pushmta.next_events('crm', 100)", fixture) < 800)
        #expect(try await fixture.store.nextEvents(of: "crm", limit: 100).count == 1)
    }

    private func add(_ count: Int, _ fixture: StoreFixture) async throws {
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.event (log_day, n, kind)
            SELECT pushmta_engine.event_day(), 1, 21 FROM generate_series(1, \(count))
            """
        )
        let connection = try await fixture.database.connect()
        try await connection.execute(PostgresStatement("VACUUM (ANALYZE) pushmta_engine.event", prepare: false))
        await connection.close()
    }

    /// How many pages a statement reads, with the functions that it calls. It is rolled back.
    private func pages(_ statement: String, _ fixture: StoreFixture) async throws -> Int {
        let connection = try await fixture.database.connect()
        var count = 0
        // The first calls fill the caches of the session, and prune what was rolled back.
        for _ in 1...3 {
            try await connection.run(script: "BEGIN")
            let lines = try await connection.execute(
                PostgresStatement(
                    "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS) \(statement)",
                    prepare: false
                )
            )
            let plan = try (0..<lines.rowCount).map { try lines.text($0, 0) }.joined(separator: "\n")
            // The first line of buffers is the total.
            let match = try #require(plan.firstMatch(of: /shared hit=(\d+)(?: read=(\d+))?/), "\(plan)")
            count = (Int(match.1) ?? 0) + (match.2.flatMap { Int($0) } ?? 0)
            try await connection.run(script: "ROLLBACK")
        }
        await connection.close()
        return count
    }
}
