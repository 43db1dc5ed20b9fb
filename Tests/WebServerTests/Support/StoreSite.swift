import Foundation
import PostgresClient
import Store
import TestSupport

/// A migrated database and its store, without a web process.
struct StoreSite {
    let database: TestDatabase
    let store: Store

    static func make() async throws -> StoreSite {
        let database = try await TestDatabase.create(.migrated)
        // Applications 1 and 2.
        let admin = Store(configuration: database.configuration())
        try await WebSite.fill(admin)
        await admin.close()
        return StoreSite(database: database, store: Store(configuration: database.configuration(), role: Store.webRole))
    }

    func value(_ sql: String) async throws -> String? {
        let connection = try await database.connect()
        defer { Task { await connection.close() } }
        let result = try await connection.execute(PostgresStatement("SELECT (\(sql))::text", prepare: false))
        return try result.textOrNil(0, 0)
    }

    func run(_ sql: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: sql)
        await connection.close()
    }
}
