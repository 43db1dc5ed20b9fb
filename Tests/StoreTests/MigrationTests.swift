import PostgresClient
import TestSupport
import Testing

@testable import Store

@Suite("Migrations")
struct MigrationTests {
    @Test("A second migration finds nothing to do")
    func twice() async throws {
        let database = try await TestDatabase.create(.empty)
        let first = try await Store.migrate(database.configuration())
        #expect(first.from == 0 && first.to == Store.schemaVersion && first.applied == Migration.all.map(\.name))
        let second = try await Store.migrate(database.configuration())
        #expect(second.from == Store.schemaVersion && second.applied.isEmpty)
    }

    @Test("The steps are in the order of their numbers, of which each is there once")
    func order() {
        let versions = Migration.all.map(\.version)
        #expect(versions == Set(versions).sorted() && versions.last == Store.schemaVersion)
    }

    @Test("Several hosts may migrate at once; each step is applied once")
    func concurrently() async throws {
        let database = try await TestDatabase.create(.empty)
        let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
            for _ in 0..<4 { group.addTask { try await Store.migrate(database.configuration()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.map(\.applied.count).reduce(0, +) == Migration.all.count)
        let store = try await Store.connect(database.configuration())
        #expect(try await store.installedSchemaVersion() == Store.schemaVersion)
    }

    @Test("A newer schema is refused by migrate, and by connect unless it allows this program")
    func newer() async throws {
        let database = try await TestDatabase.create(.migrated)
        let connection = try await database.connect()
        let next = Store.schemaVersion + 1
        try await connection.run(
            script:
                "INSERT INTO pushmta_engine.schema_version (version, name, oldest_program) VALUES (\(next), 'x', \(Store.schemaVersion))"
        )
        await #expect(throws: StoreError.self) { try await Store.migrate(database.configuration()) }
        _ = try await Store.connect(database.configuration())
        try await connection.run(
            script: "UPDATE pushmta_engine.schema_version SET oldest_program = \(next) WHERE version = \(next)"
        )
        await #expect { try await Store.connect(database.configuration()) } throws: {
            ($0 as? StoreError)?.code == .schema
        }
    }

    @Test("An empty database is refused with the command that helps")
    func absent() async throws {
        let database = try await TestDatabase.create(.empty)
        await #expect { try await Store.connect(database.configuration()) } throws: {
            ($0 as? StoreError)?.description.contains("pushmta migrate") == true
        }
    }

    @Test("Partitions are made for the days ahead, by any number of hosts at once")
    func partitions() async throws {
        let database = try await TestDatabase.create(.migrated)
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await Store(configuration: database.configuration()).ensurePartitions(daysAhead: 9)
                }
            }
            return try await group.reduce(0, +)
        }
        // Four tables, two more days than migration made.
        #expect(made == 8)
    }
}
