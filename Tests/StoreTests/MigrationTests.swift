import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Migrations")
struct MigrationTests {
    /// A version after a release.
    private static let later = SchemaVersion(
        number: Store.schemaVersion + 1,
        files: [
            SchemaFile(
                name: "2-colours.sql",
                text: "ALTER TABLE pushmta_engine.service ADD colour text -- no semicolon"
            ),
            SchemaFile(name: "2-shades.sql", text: "UPDATE pushmta_engine.service SET colour = 'grey';"),
        ]
    )

    private static let files = SchemaVersion.all.flatMap(\.files).map(\.name)

    private func refusal(_ work: () async throws -> Void) async -> String? {
        do {
            try await work()
            return nil
        } catch {
            #expect((error as? StoreError)?.code == .schema, "\(error)")
            return "\(error)"
        }
    }

    @Test("A second migration finds nothing to do")
    func twice() async throws {
        let database = try await TestDatabase.create(.empty)
        let first = try await Store.migrate(database.configuration())
        #expect(first.from == 0 && first.to == Store.schemaVersion && first.applied == Self.files)
        let second = try await Store.migrate(database.configuration())
        #expect(second.from == Store.schemaVersion && second.applied.isEmpty && second.granted.isEmpty)
    }

    @Test("The versions begin with 1 and have no gap; no file is empty or occurs twice")
    func versions() {
        #expect(SchemaVersion.all.map(\.number) == Array(1...Store.schemaVersion))
        #expect(Set(Self.files).count == Self.files.count && Self.files.count > 10)
        for version in SchemaVersion.all {
            #expect(version.files.map(\.name) == version.files.map(\.name).sorted())
            for file in version.files { #expect(file.text.contains(";") && file.checksum.count == 64, "\(file.name)") }
        }
    }

    @Test("Several hosts may migrate at once; each file is applied once")
    func concurrently() async throws {
        let database = try await TestDatabase.create(.empty)
        let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
            for _ in 0..<4 { group.addTask { try await Store.migrate(database.configuration()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.flatMap(\.applied) == Self.files)
        try await Store.connect(database.configuration()).checkSchema()
    }

    @Test("A version after a release is applied to the existing schema, and earlier programs refuse the database")
    func laterVersion() async throws {
        let database = try await TestDatabase.create(.migrated)
        let connection = try await database.connect()
        try await connection.run(script: "INSERT INTO pushmta_engine.service (name) VALUES ('shop')")
        let versions = SchemaVersion.all + [Self.later]
        let report = try await Migrator(connection: connection).migrate(versions)
        #expect(report.from == Store.schemaVersion && report.to == Self.later.number)
        #expect(report.applied == ["2-colours.sql", "2-shades.sql"])
        let colour = try await connection.execute(
            PostgresStatement("SELECT colour FROM pushmta_engine.service", prepare: false)
        )
        #expect(try colour.text(0, 0) == "grey")
        #expect(try await Migrator(connection: connection).migrate(versions).applied.isEmpty)
        for refused in [
            await refusal { _ = try await Store.migrate(database.configuration()) },
            await refusal { _ = try await Store.connect(database.configuration()) },
        ] {
            #expect(refused?.contains("Install the newer program") == true, "\(refused ?? "taken")")
        }
    }

    @Test("A failed version leaves nothing behind")
    func failing() async throws {
        let database = try await TestDatabase.create(.migrated)
        let connection = try await database.connect()
        let wrong = SchemaVersion(
            number: Self.later.number,
            files: Self.later.files + [SchemaFile(name: "2-wrong.sql", text: "SELECT nothing FROM nowhere;")]
        )
        await #expect(throws: PostgresError.self) {
            try await Migrator(connection: connection).migrate(SchemaVersion.all + [wrong])
        }
        let left = try await connection.execute(
            PostgresStatement(
                "SELECT count(*) FROM pg_attribute WHERE attrelid = 'pushmta_engine.service'::regclass AND attname = 'colour'",
                prepare: false
            )
        )
        #expect(try left.int64(0, 0) == 0)
        try await Store.connect(database.configuration()).checkSchema()
        #expect(try await Migrator(connection: connection).migrate(SchemaVersion.all + [Self.later]).applied.count == 2)
    }

    @Test(
        "A development version's database is refused in one sentence, by migrate and by connect, and is not changed",
        arguments: [
            // The list of steps as it was before version 1.
            """
            DROP SCHEMA pushmta CASCADE; DROP SCHEMA pushmta_engine CASCADE; CREATE SCHEMA pushmta_engine;
            CREATE TABLE pushmta_engine.schema_version (version integer PRIMARY KEY, name text, oldest_program integer);
            INSERT INTO pushmta_engine.schema_version VALUES (1, 'foundations', 1), (38, 'resumption', 8);
            """,
            // Version 1 in an earlier state: a file differed, was missing, or was removed since.
            "UPDATE pushmta_engine.schema_version SET checksum = repeat('0', 64) WHERE file = '05-parts.sql'",
            "DELETE FROM pushmta_engine.schema_version WHERE file = '05-parts.sql'",
            "INSERT INTO pushmta_engine.schema_version VALUES (1, '99-gone.sql', repeat('0', 64))",
        ]
    )
    func development(script: String) async throws {
        let database = try await TestDatabase.create(.migrated)
        let connection = try await database.connect()
        try await connection.run(script: script)
        let count =
            "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname ~ '^pushmta'"
        let before = try await connection.execute(PostgresStatement(count, prepare: false)).int64(0, 0)
        for refused in [
            await refusal { _ = try await Store.migrate(database.configuration()) },
            await refusal { _ = try await Store.connect(database.configuration()) },
        ] {
            #expect(refused?.contains("pushmta-lab quickstart --fresh") == true, "\(refused ?? "taken")")
            #expect(refused?.filter { $0 == "." }.count == refused?.components(of: ".sql").count.advanced(by: 1))
        }
        let after = try await connection.execute(PostgresStatement(count, prepare: false)).int64(0, 0)
        #expect(before == after)
    }

    @Test("An empty database is refused with the command that helps")
    func absent() async throws {
        let database = try await TestDatabase.create(.empty)
        await #expect { try await Store.connect(database.configuration()) } throws: {
            ($0 as? StoreError)?.description.contains("pushmta migrate") == true
        }
    }

    @Test("Partitions are created for the days ahead, by any number of hosts in parallel")
    func partitions() async throws {
        let database = try await TestDatabase.create(.migrated)
        // The template database may have been created yesterday.
        _ = try await Store(configuration: database.configuration()).ensurePartitions(daysAhead: 7)
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await Store(configuration: database.configuration()).ensurePartitions(daysAhead: 9)
                }
            }
            return try await group.reduce(0, +)
        }
        // Five tables, two days more than the migration created.
        #expect(made == 10)
    }
}

extension String {
    fileprivate func components(of part: String) -> [Range<String.Index>] { ranges(of: part) }
}
