import PostgresClient

/// Keeps all other hosts of a database from the key under which credentials are sealed: a session holds it, and it ends with the
/// session.
public struct CredentialKeyLock: Sendable {
    private let connection: PostgresConnection
    private let use: CredentialKeyUse

    /// Rotations of thousands of credentials take seconds; who waits longer waits for somebody who is stuck.
    private static let timeoutMilliseconds = 60_000

    /// Waits for its turn.
    ///
    /// - Throws: `StoreError` of code `conflict` if others have it for too long, `PostgresError` if there is no database.
    static func take(_ use: CredentialKeyUse, _ configuration: PostgresConfiguration) async throws -> CredentialKeyLock
    {
        var configuration = configuration
        configuration.lockTimeoutMilliseconds = timeoutMilliseconds
        // Waiting is a statement too.
        configuration.statementTimeoutMilliseconds = 0
        let connection = try await PostgresConnection.connect(configuration)
        do {
            // The transaction holds the lock for as long as files are written. It has no snapshot and no number, so it blocks no one.
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
                "Somebody else has been changing the key of credentials for \(timeoutMilliseconds / 1_000) s, on this host or on another one.",
                hint: "wait for the end of that command, or end it, and call this again"
            )
        } catch {
            await connection.close()
            throw error
        }
        return CredentialKeyLock(connection: connection, use: use)
    }

    /// Gives it back, also when the task was cancelled: the end of the session does.
    func giveBack() async {
        await connection.close()
    }

    /// Checks that it is still held: a database that was started anew has forgotten it, and somebody else may have it.
    ///
    /// - Throws: `PostgresError` of the lost connection.
    public func verify() async throws {
        try await connection.execute(PostgresStatement("SELECT 1", prepare: false))
    }
}

extension Store {
    /// Does something with the key of credentials while nobody else, on whatever host, does what would not go with it.
    ///
    /// The lock has a connection of its own, so that the store's may be lost and made again meanwhile. It is given back whatever
    /// happens.
    public func withCredentialKey<T: Sendable>(
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

/// What somebody does with the key under which credentials are sealed.
public enum CredentialKeyUse: Sendable, Hashable {
    /// Seals a credential under the key that is current: any number may at once.
    case sealing
    /// Changes which keys there are: alone.
    case rotating
}
