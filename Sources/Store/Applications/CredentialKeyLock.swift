import PostgresClient

/// Keeps all other hosts of a database from changing the key that seals credentials. A session holds the lock, which
/// ends with the session.
package struct CredentialKeyLock: Sendable {
    private let connection: PostgresConnection
    private let use: CredentialKeyUse

    /// Rotating thousands of credentials takes seconds. A longer wait means that the holder is stuck.
    private static let timeoutMilliseconds = 60_000

    /// Waits for its turn.
    ///
    /// - Throws: `StoreError` of code `conflict` if others hold it for too long, `PostgresError` if there is no
    ///   database.
    static func take(_ use: CredentialKeyUse, _ configuration: PostgresConfiguration) async throws -> CredentialKeyLock
    {
        var configuration = configuration
        configuration.lockTimeoutMilliseconds = timeoutMilliseconds
        // Waiting for a lock counts as a statement, too.
        configuration.statementTimeoutMilliseconds = 0
        let connection = try await PostgresConnection.connect(configuration)
        do {
            // The transaction holds the lock while files are written. It has no snapshot and no transaction id, so it
            // blocks no one.
            try await connection.run(script: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0")
            try await connection.execute(
                PostgresStatement(
                    "SELECT pushmta_engine.hold_credential_key($1)",
                    [.bool(use == .rotating)],
                    prepare: false
                )
            )
        } catch let error as PostgresError where error.sqlState == "55P03" {
            await connection.close()
            throw StoreError(
                .conflict,
                "Another process has been changing the key of credentials for \(timeoutMilliseconds / 1_000) s, on this host or another.",
                hint: "wait for that command to end, or end it, then try again"
            )
        } catch {
            await connection.close()
            throw error
        }
        return CredentialKeyLock(connection: connection, use: use)
    }

    /// Releases the lock, even if the task was cancelled: ending the session does that.
    func giveBack() async {
        await connection.close()
    }

    /// Checks that the lock is still held. A restarted database has forgotten it, and another process may hold it.
    ///
    /// - Throws: `PostgresError` of the lost connection.
    package func verify() async throws {
        try await connection.execute(PostgresStatement("SELECT 1", prepare: false))
    }
}

extension Store {
    /// Runs a block that uses the key of credentials, while no other process, on any host, does anything that conflicts
    /// with it.
    ///
    /// The lock has its own connection, so the store's may be lost and made again meanwhile. It is always released.
    package func withCredentialKey<T: Sendable>(
        for use: CredentialKeyUse,
        _ body: (CredentialKeyLock) async throws -> T
    ) async throws -> T {
        let lock = try await CredentialKeyLock.take(use, configuration)
        do {
            let value = try await body(lock)
            await lock.giveBack()
            return value
        } catch {
            await lock.giveBack()
            throw error
        }
    }
}

/// How a process uses the key that seals credentials.
package enum CredentialKeyUse: Sendable, Hashable {
    /// Seals a credential under the current key: any number of processes at once.
    case sealing
    /// Changes the set of keys: one process alone.
    case rotating
}
