import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Upgrade of a database in use")
struct UpgradeTests {
    @Test("A database of the version before is brought on with what is in it, and its programs may go on")
    func fromEight() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        _ = try await Migrator(connection: connection).migrate(Migration.all.filter { $0.version <= 8 })
        try await connection.run(script: Self.contents)
        let report = try await Store.migrate(database.configuration())
        #expect(report.from == 8 && report.to == Store.schemaVersion)
        let oldest = try await connection.execute(
            PostgresStatement("SELECT max(oldest_program) FROM pushmta_engine.schema_version", prepare: false)
        )
        #expect(try oldest.int32(0, 0) == 8, "two versions run side by side during an upgrade")
        let store = try await Store.connect(database.configuration())
        #expect(try await store.applicationHealth().map(\.state) == [.closed], "it was trouble with a connection")
        #expect(try await store.deliveryProgress(16).finishedAt == nil, "a part of it is held")
        #expect(try await store.deliveryProgress(17).finishedAt != nil)
        #expect(try await store.releasePart(PartToken(part: 1, token: 1)))
        #expect(try await store.settleRest() == 1)
        #expect(try await store.deliveryProgress(16).finishedAt != nil)
        #expect(try await store.deliveryProgress(16).canceled == 10)
        #expect(try await store.installationID().count == 36)
    }

    @Test("Ranges of message ids keep the order in which they were taken")
    func messageIDRanges() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        _ = try await Migrator(connection: connection).migrate(Migration.all.filter { $0.version <= 13 })
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.service (name) VALUES ('shop');
                INSERT INTO pushmta_engine.external_account (name, connector) VALUES ('apns', 'ios-http2');
                INSERT INTO pushmta_engine.application (service_id, name, platform, integration_key, message_id_format)
                VALUES (1, 'shop-ios', 'ios', 'key', 'int32');
                INSERT INTO pushmta_engine.delivery (id, content) VALUES (16, '{}'), (17, '{}'), (18, '{}');
                INSERT INTO pushmta_engine.message_id_range (delivery_id, first_id, last_id, reserved_at)
                VALUES (16, 101, 200, now()), (17, 1, 100, now() - interval '1 minute');
                INSERT INTO pushmta_engine.delivery_application (delivery_id, application_id, external_account_id, prepare_to)
                VALUES (18, 1, 1, 0);
                """
        )
        _ = try await Store.migrate(database.configuration())
        try await connection.run(script: "SELECT pushmta_engine.reserve_message_ids(18)")
        let ranges = try await connection.execute(
            PostgresStatement("SELECT first_id FROM pushmta_engine.message_id_range ORDER BY number", prepare: false)
        )
        #expect(try (0..<ranges.rowCount).map { try ranges.int64($0, 0) } == [1, 101, 201])
    }

    /// Two deliveries that failed, one with a part that a child holds.
    private static let contents = """
        INSERT INTO pushmta_engine.service (name) VALUES ('shop');
        INSERT INTO pushmta_engine.application (service_id, name, platform, integration_key) VALUES (1, 'shop-ios', 'ios', 'key');
        INSERT INTO pushmta_engine.application_health (application_id, state, reason, opened_at)
        VALUES (1, 'open', 'unreachable', now());
        INSERT INTO pushmta_engine.delivery (id, content, state, state_reason, target, finished_at)
        VALUES (16, '{}', 'failed', 'x', 10, now()), (17, '{}', 'failed', 'x', 0, now());
        INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size, state,
            fencing_token, owner)
        VALUES (16, 1, 1, current_date, 10, 'claimed', 1, 1);
        """
}
