import TestSupport
import Testing

@testable import PostgresClient

@Suite("What a session relies on")
struct SessionSettingsTests {
    /// What an administrator may have set.
    private static let foreign = [
        ("quote_all_identifiers", "on"), ("search_path", "public"), ("standard_conforming_strings", "off"),
        ("default_transaction_isolation", "serializable"), ("default_transaction_deferrable", "on"),
        ("DateStyle", "German"), ("IntervalStyle", "iso_8601"), ("TimeZone", "Asia/Tokyo"),
        ("client_encoding", "LATIN1"), ("extra_float_digits", "-5"), ("bytea_output", "escape"),
        ("array_nulls", "off"), ("transform_null_equals", "on"),
        ("plpgsql.extra_errors", "all"),
    ]

    private func settings(_ configuration: PostgresConfiguration, _ names: [String]) async throws -> [String] {
        let connection = try await PostgresConnection.connect(configuration)
        var values: [String] = []
        for name in names {
            let row = try await connection.execute(
                PostgresStatement("SELECT pg_catalog.current_setting($1)", [.text(name)], prepare: false)
            )
            values.append(try row.text(0, 0))
        }
        await connection.close()
        return values
    }

    private func set(_ database: TestDatabase, _ settings: [(String, String)]) async throws {
        let administrator = try await database.connect()
        for (name, value) in settings {
            try await administrator.run(script: "ALTER DATABASE \(database.name) SET \(name) = '\(value)'")
        }
        await administrator.close()
    }

    @Test("is as statements want it, whatever an administrator has set; through a pooler in session mode too")
    func pinned() async throws {
        #expect(Self.foreign.map(\.0) == SessionSettings.pinned.map(\.name))
        let database = try await TestDatabase.create(.empty)
        try await set(database, Self.foreign + [("synchronous_commit", "off")])
        let names = SessionSettings.pinned.map(\.name) + ["synchronous_commit"]
        let wanted = SessionSettings.pinned.map(\.value) + ["on"]
        #expect(try await settings(database.configuration(), names) == wanted)
        let pooler = try await database.cluster.pooler(.session)
        defer { pooler.stop() }
        var pooled = database.configuration()
        pooled.connectionString = pooler.connectionString(database: database.name)
        #expect(try await settings(pooled, names) == wanted)
    }

    @Test(
        "What is committed lasts: less is raised, more is kept",
        arguments: [
            ("off", "on"), ("local", "on"), ("on", "on"), ("remote_write", "remote_write"),
            ("remote_apply", "remote_apply"),
        ]
    )
    func durability(_ found: String, _ wanted: String) async throws {
        let database = try await TestDatabase.create(.empty)
        try await set(database, [("synchronous_commit", found)])
        #expect(try await settings(database.configuration(), ["synchronous_commit"]) == [wanted])
    }

    @Test("Connecting itself looks no name up where others may create")
    func connecting() async throws {
        let database = try await TestDatabase.create(.empty)
        try await ShadowNames.plant(in: database.configuration())
        let found = try await settings(database.configuration(), ["search_path"])
        #expect(found == ["pg_catalog, pg_temp"])
        let shadows = try await ShadowNames.calls(in: database.configuration())
        #expect(shadows.calls == 0 && shadows.names > 3_000, "\(shadows)")
        // They do what they are for: a session that looks where the server says falls for them.
        let plain = try await database.connect()
        try await plain.execute(
            PostgresStatement("SET search_path = public, pg_catalog", prepare: false)
        )
        for statement in [
            "SELECT format('%s', 1)", "SELECT 1 = 1", "SELECT 'x'::text", "SELECT relname FROM pg_class",
        ] {
            await #expect(throws: PostgresError.self, "\(statement)") {
                try await plain.execute(PostgresStatement(statement, prepare: false))
            }
        }
        #expect(try await ShadowNames.calls(in: database.configuration()).calls >= 3)
        await plain.close()
    }

    @Test("A session in which no trigger fires is refused by name")
    func replication() async throws {
        let database = try await TestDatabase.create(.empty)
        try await set(database, [("session_replication_role", "replica")])
        let error = try await postgresError { _ = try await PostgresConnection.connect(database.configuration()) }
        #expect(
            error.code == .server && error.message.contains("session_replication_role is replica")
                && error.description.contains("RESET"),
            "\(error)"
        )
    }

    @Test("A database in another encoding is refused by name, and so is a server that is too old")
    func servers() async throws {
        let cluster = try await TestCluster.shared()
        let administrator = try await cluster.connect()
        try await administrator.run(script: "DROP DATABASE IF EXISTS ascii")
        try await administrator.run(
            script: "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
        )
        let error = try await postgresError { _ = try await cluster.connect(database: "ascii") }
        #expect(error.code == .server && error.message.contains("SQL_ASCII") && error.description.contains("createdb"))
        try await administrator.run(script: "DROP DATABASE ascii WITH (FORCE)")
        await administrator.close()
        #expect(ServerCheck.problem(version: 150_000, encoding: "UTF8") == nil)
        #expect(ServerCheck.problem(version: 180_001, encoding: nil) == nil)
        let old = try #require(ServerCheck.problem(version: 140_020, encoding: "UTF8"))
        #expect(old.message == "the server is PostgreSQL 14; at least 15 is needed")
        #expect(ServerCheck.problem(version: 90_624, encoding: "UTF8")?.message.contains("9.6") == true)
        #expect(ServerCheck.warning(major: 15) == nil && ServerCheck.warning(major: 18) == nil)
        #expect(ServerCheck.warning(major: 19)?.contains("PostgreSQL 19") == true)
    }
}
