import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Commands on a read-only database, such as a standby before its promotion.
@Suite struct ReadOnlyTests {
    @Test func itIsNamedAsSuch() async throws {
        let database = try await TestDatabase.create(.migrated)
        let owner = try await database.connect()
        try await owner.run(script: "ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        await owner.close()
        let environment = ["PUSHMTA_DATABASE_URL": database.connectionString]
        for (words, status) in [
            (["doctor"], 1), (["status"], 0), (["service", "add", "shop"], 69),
        ] as [([String], Int32)] {
            let ending = try await Program.pushmta().run(words, environment: environment)
            #expect(ending.status == status, "\(words): \(ending.output) \(ending.errors)")
            let said = ending.output + ending.errors
            #expect(said.contains("The database is read-only") && said.contains("promoted"), "\(words): \(said)")
        }
    }
}
