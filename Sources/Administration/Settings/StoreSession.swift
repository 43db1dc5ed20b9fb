import Foundation
import PostgresClient
import PushCore
import Store

/// A command's access to the database.
package enum StoreSession {
    /// The database configuration for a PushMTA process with this role. Role, host and pid show in
    /// `pg_stat_activity`.
    ///
    /// - Parameter lockTimeoutMilliseconds: the maximum wait for a lock; nil leaves the server's setting.
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

    /// How long one address of the database may take to accept a command: a person waits, and the most distant TLS
    /// handshake takes a second or two. `connect_timeout` in `database.url` overrides it.
    private static let maxWait = Duration.seconds(5)
    /// After this time, the user is told what the command waits for.
    private static let silentWait = Duration.seconds(2)

    /// How long a command waits for a lock: a person sees it wait. A transaction of the engine releases its locks
    /// within 2 s.
    package static let lockTimeoutMilliseconds = 10_000

    /// The database configuration for a command that a person typed.
    package static func commandConfiguration(
        _ settings: Settings,
        role: String = "admin",
        lockTimeoutMilliseconds: Int = StoreSession.lockTimeoutMilliseconds
    ) -> PostgresConfiguration {
        var configuration = configuration(settings, role: role)
        configuration.connectTimeout = maxWait
        configuration.lockTimeoutMilliseconds = lockTimeoutMilliseconds
        return configuration
    }

    /// Opens the database for a command and checks its schema. If that takes long, standard error says so.
    ///
    /// - Parameters:
    ///   - workingAs: the database role that its sessions assume, if their user is a member of it.
    ///   - lockTimeoutMilliseconds: the maximum wait for a lock.
    ///   - onEvent: called with connections, losses and failed attempts; must not block.
    package static func open(
        _ settings: Settings,
        role: String = "admin",
        workingAs: String? = nil,
        lockTimeoutMilliseconds: Int = StoreSession.lockTimeoutMilliseconds,
        onEvent: @escaping @Sendable (ReconnectingConnectionEvent) -> Void = { _ in }
    ) async throws -> Store {
        let notice = Task {
            guard (try? await Task.sleep(for: silentWait)) != nil else { return }
            StandardError.write(
                "waiting for the database; each of its addresses has \(maxWait.components.seconds) s to answer unless connect_timeout "
                    + "in \(settings.database.origin.text) says otherwise\n"
            )
        }
        defer { notice.cancel() }
        let configuration = commandConfiguration(settings, role: role, lockTimeoutMilliseconds: lockTimeoutMilliseconds)
        return try await Store.connect(configuration, role: workingAs, onEvent: onEvent)
    }

    /// Runs `body` for a command that shows what can be read despite locks. It waits one second for each lock; if the
    /// record of the schema is locked, the schema goes unchecked.
    package static func look<Result: Sendable>(
        _ settings: Settings,
        _ body: (Store) async throws -> Result
    ) async throws -> Result {
        let store: Store
        do {
            store = try await open(settings, lockTimeoutMilliseconds: lookTimeoutMilliseconds)
        } catch let error as PostgresError where error.isLockTimeout {
            store = Store(
                configuration: commandConfiguration(settings, lockTimeoutMilliseconds: lookTimeoutMilliseconds)
            )
        }
        do {
            let result = try await body(store)
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }

    /// The user waits for each thing that is read.
    private static let lookTimeoutMilliseconds = 1_000

    /// Opens the database, checks its schema, runs `body` and closes the connection.
    package static func run<Result: Sendable>(
        _ settings: Settings,
        role: String = "admin",
        _ body: (Store) async throws -> Result
    ) async throws -> Result {
        let store = try await open(settings, role: role)
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
