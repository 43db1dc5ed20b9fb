import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Explicit targets: who is named by which rows")
struct ExplicitTargetTests {
    /// A started delivery whose list has these rows. Subscriptions 1 and 2 are on iOS, 3 and 4 on Android; 1 and 3
    /// belong to user A, 2 and 4 to user B. A higher id registered later.
    private func started(_ rows: [(column: String, value: String)], onePerUser: Bool = true) async throws -> (
        StoreFixture, Int64
    ) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 2)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET user_key = CASE WHEN id % 2 = 1 THEN 'A' ELSE 'B' END, push_token = 't' || id,
                registered_at = now() - interval '1 hour' + id * interval '1 s'
            """
        )
        let id = try await fixture.startedDelivery(
            ["shop-ios", "shop-android"],
            explicit: true,
            onePerUser: onePerUser
        )
        for row in rows {
            try await fixture.sql(
                "INSERT INTO pushmta.delivery_target (delivery_id, \(row.column)) VALUES (\(id), '\(row.value)')"
            )
        }
        try await fixture.store.startDelivery(id)
        return (fixture, id)
    }

    private func targets(_ fixture: StoreFixture, _ delivery: Int64) async throws -> [Int64] {
        let connection = try await fixture.database.connect()
        let rows = try await connection.execute(
            PostgresStatement(
                "SELECT subscription_id FROM pushmta.message_status WHERE delivery_id = $1 ORDER BY subscription_id",
                [.int64(delivery)]
            )
        )
        await connection.close()
        return try (0..<rows.rowCount).map { try rows.int64($0, 0) }
    }

    @Test("One per user chooses among the subscriptions that the list names, not among all of the user's")
    func onePerUserOfTheNamed() async throws {
        let (byID, first) = try await started([("subscription_id", "1"), ("push_token", "t2")])
        #expect(try await byID.prepare().messages == 2, "their better subscriptions are nobody's targets")
        #expect(try await targets(byID, first) == [1, 2])
        #expect(try await byID.assertEquation(first))
        let (both, second) = try await started([
            ("subscription_id", "1"), ("push_token", "t3"), ("push_token", "t2"), ("subscription_id", "4"),
        ])
        let made = try await both.prepare()
        #expect(made.messages == 2 && made.excluded == 2)
        #expect(try await targets(both, second) == [3, 4])
        let (byUser, third) = try await started([("subscription_id", "1"), ("user_key", "A"), ("user_key", "B")])
        #expect(try await byUser.prepare().messages == 2)
        #expect(try await targets(byUser, third) == [3, 4])
    }

    @Test("A subscription that registered after the start of preparation is not a target")
    func afterTheFreeze() async throws {
        let (fixture, id) = try await started([("user_key", "A"), ("push_token", "t9"), ("subscription_id", "6")])
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key)
            VALUES (5, 2, 't5', 'A'), (6, 1, 't6', ''), (9, 1, 't9', '')
            """
        )
        try await fixture.prepareRest(job)
        #expect(try await targets(fixture, id) == [3], "the user gets one message")
        #expect(
            Set(try await fixture.store.exclusionCounts(delivery: id))
                == Set([
                    OutcomeCount(status: nil, reason: "duplicate", count: 1),
                    OutcomeCount(status: nil, reason: "unknown_subscription", count: 2),
                ])
        )
        #expect(try await fixture.assertEquation(id))
    }

    @Test("Rows numbered by their author, even below 1, are targets like all others")
    func numbers() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        func delivery(_ numbers: String, _ wanted: String) async throws -> Int64 {
            let id = try await fixture.startedDelivery(explicit: true)
            try await fixture.sql(
                """
                INSERT INTO pushmta.delivery_target (id, delivery_id, subscription_id)
                SELECT \(numbers), \(id), s.id FROM pushmta_engine.subscription s WHERE s.id \(wanted)
                """
            )
            try await fixture.store.startDelivery(id)
            return id
        }
        let below = try await delivery("-s.id - 100", "<= 8")
        #expect(try await fixture.prepare(partSize: 2, partsPerChunk: 2).messages == 8, "none is above zero")
        let across = try await delivery("s.id - 5", "<= 10")
        #expect(try await fixture.prepare(partSize: 2, partsPerChunk: 2).messages == 10)
        for id in [below, across] { #expect(try await fixture.assertEquation(id)) }
    }
}
