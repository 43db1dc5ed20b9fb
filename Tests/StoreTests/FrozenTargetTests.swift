import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The list of a started delivery is frozen")
struct FrozenTargetTests {
    /// Two deliveries with two targets each; neither is started.
    private func lists() async throws -> (StoreFixture, Int64, Int64) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        let ids = [
            try await fixture.startedDelivery(explicit: true), try await fixture.startedDelivery(explicit: true),
        ]
        for id in ids {
            try await fixture.sql(
                """
                INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
                SELECT \(id), s.id, '{"code": "x"}' FROM pushmta_engine.subscription s
                """
            )
        }
        return (fixture, ids[0], ids[1])
    }

    /// The SQLSTATE of a script's refusal; nil if it succeeds.
    private func refusal(_ fixture: StoreFixture, _ script: String) async throws -> String? {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        do { try await connection.run(script: script) } catch let error as PostgresError { return error.sqlState }
        return nil
    }

    @Test("The setting for forgetting a user does not unfreeze it")
    func forgetting() async throws {
        let (fixture, started, _) = try await lists()
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(started), 'user-1')"
        )
        try await fixture.store.startDelivery(started)
        for table in ["delivery_target", "delivery_exclusion"] {
            let script = """
                GRANT DELETE ON pushmta.\(table) TO pushmta_marketing; SET ROLE pushmta_marketing; SET pushmta.forgetting = 'on';
                DELETE FROM pushmta.\(table) WHERE delivery_id = \(started)
                """
            let state = try await refusal(fixture, script)
            #expect(state == "PM006", "\(table)")
        }
    }

    @Test("Moving rows to or from another delivery cannot change it")
    func moved() async throws {
        let (fixture, started, editing) = try await lists()
        func move(_ from: Int64, _ to: Int64) -> String {
            "UPDATE pushmta.delivery_target SET delivery_id = \(to) WHERE delivery_id = \(from)"
        }
        #expect(try await refusal(fixture, move(editing, started)) == nil, "both can still be changed")
        try await fixture.sql(
            "UPDATE pushmta.delivery_target SET delivery_id = \(editing) WHERE id IN (SELECT min(id) FROM pushmta.delivery_target GROUP BY subscription_id)"
        )
        try await fixture.store.startDelivery(started)
        #expect(try await refusal(fixture, move(started, editing)) == "PM006")
        #expect(try await refusal(fixture, move(editing, started)) == "PM006")
        #expect(
            try await refusal(
                fixture,
                "UPDATE pushmta.delivery_target SET variables = NULL WHERE delivery_id = \(editing)"
            )
                == nil
        )
        #expect(try await fixture.prepare().messages == 2)
    }

    @Test("A start waits for a change of the list under way, and a change waits for a start", .timeLimit(.minutes(1)))
    func underWay() async throws {
        let (fixture, one, two) = try await lists()
        let timeout = "SET lock_timeout = '200ms';"
        let changes = [
            "DELETE FROM pushmta.delivery_target WHERE delivery_id = ",
            "UPDATE pushmta.delivery_target SET variables = NULL WHERE delivery_id = ",
        ]
        for change in changes {
            let changer = try await fixture.hold(change + "\(one)")
            #expect(try await refusal(fixture, "\(timeout) SELECT pushmta.start_delivery(\(one))") == "55P03")
            try await changer.run(script: "ROLLBACK")
            await changer.close()
            let starter = try await fixture.hold("SELECT pushmta.start_delivery(\(two))")
            #expect(try await refusal(fixture, "\(timeout) \(change)\(two)") == "55P03")
            try await starter.run(script: "ROLLBACK")
            await starter.close()
        }
        let starter = try await fixture.hold("SELECT pushmta.start_delivery(\(one))")
        async let late = refusal(fixture, changes[0] + "\(one)")
        try await fixture.waitForLock()
        try await starter.run(script: "COMMIT")
        #expect(try await late == "PM006")
        await starter.close()
        #expect(try await fixture.prepare().messages == 2)
    }
}
