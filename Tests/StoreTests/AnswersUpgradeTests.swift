import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// A program of the version before goes on working while the schema and other programs are of this one.
@Suite("Upgrade: kinds of failures and token effects")
struct AnswersUpgradeTests {
    @Test("Old statements work on the new schema, on days before and after it, and their token events are applied")
    func sideBySide() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        _ = try await Migrator(connection: connection).migrate(Migration.all.filter { $0.version <= 14 })
        try await connection.run(script: Self.contents)
        _ = try await Store.migrate(database.configuration())
        try await connection.run(
            script: "SELECT pushmta_engine.ensure_partitions(current_date + 20, current_date + 20)"
        )
        for day in [0, 20] { try await connection.run(script: Self.oldOutcome(day: day)) }
        try await connection.run(script: Self.oldTokenEvent)
        let store = try await Store.connect(database.configuration())
        let applied = try await connection.execute(
            PostgresStatement("SELECT pushmta_engine.apply_token_events(10)", prepare: false)
        )
        #expect(try applied.int32(0, 0) == 1)
        let rows = try await connection.execute(
            PostgresStatement(
                "SELECT count(*), count(failure) FROM pushmta_engine.broad_log WHERE reason = 'Unregistered'",
                prepare: false
            )
        )
        #expect(try rows.int64(0, 0) == 2 && rows.int64(0, 1) == 0)
        #expect(try await store.tokenEventCounts().map(\.applied) == [1])
        // Held by an old program, which lets go of nothing else than refused tokens.
        try await connection.run(script: Self.heldByOldProgram)
        #expect(try await store.applyTokenEvents() == 0)
        let undone = try await connection.execute(
            PostgresStatement("SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'undone'", prepare: false)
        )
        #expect(try undone.int64(0, 0) == 1)
        await connection.close()
        await store.close()
    }

    private static let contents = """
        INSERT INTO pushmta_engine.service (name) VALUES ('shop');
        INSERT INTO pushmta_engine.external_account (name, connector) VALUES ('apns', 'ios-http2');
        INSERT INTO pushmta_engine.application (service_id, name, platform, integration_key) VALUES (1, 'shop-ios', 'ios', 'key');
        INSERT INTO pushmta_engine.subscription (application_id, push_token, registered_at) VALUES (1, 'a', now() - interval '1 day');
        INSERT INTO pushmta_engine.delivery (id, content) VALUES (16, '{}');
        INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size, state, fencing_token)
        SELECT 16, 1, 1, current_date + day, 10, 'claimed', 1 FROM unnest(ARRAY[0, 20]) day;
        SELECT pushmta_engine.ensure_partitions(current_date, current_date);
        """

    /// The insert of version 14.
    private static func oldOutcome(day: Int) -> String {
        """
        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status,
            attempt, reason, gateway_message_id)
        SELECT p.delivery_id, 1, p.id, p.id, p.log_day, 2, 410, 1, 'Unregistered', NULL
        FROM pushmta_engine.delivery_part p WHERE p.log_day = current_date + \(day)
        """
    }

    private static let oldTokenEvent = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence, reason, since, part_id)
        VALUES (1, 1, 'invalid', 16, 1, 'Unregistered', now(), NULL)
        """

    private static let heldByOldProgram = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, state, reason)
        VALUES (1, 1, 'soft_error', 'held', 'x')
        """
}
