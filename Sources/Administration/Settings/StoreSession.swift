import Foundation
import PostgresClient
import PushCore
import Store

/// The way of a command to the database.
package enum StoreSession {
    /// Where the database is, for a process of ours with this role; the role, the host and the pid show in `pg_stat_activity`.
    ///
    /// - Parameter lockTimeoutMilliseconds: how long it waits for a lock; nil leaves the server's setting.
    package static func configuration(
        _ settings: Settings,
        role: String,
        lockTimeoutMilliseconds: Int? = nil
    ) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(
            settings.database.url,
            applicationName: PostgresApplicationName(
                role: role,
                host: ProcessInfo.processInfo.hostName,
                pid: ProcessInfo.processInfo.processIdentifier
            ),
            statementTimeoutMilliseconds: settings.database.statementTimeoutSec * 1_000,
            lockTimeoutMilliseconds: lockTimeoutMilliseconds
        )
        configuration.origin = settings.database.origin.text
        return configuration
    }

    /// Opens the database, checks its schema, runs `body` and closes the connection.
    package static func run<Result: Sendable>(
        _ settings: Settings,
        role: String = "admin",
        _ body: (Store) async throws -> Result
    ) async throws -> Result {
        let store = try await Store.connect(configuration(settings, role: role))
        do {
            let result = try await body(store)
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }
}
