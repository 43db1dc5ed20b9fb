import PostgresClient
import Testing

/// Waits until the query's single boolean is true; fails the test after a minute.
func waitUntil(_ connection: PostgresConnection, _ sql: String, _ parameters: [PostgresValue] = []) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await !connection.execute(PostgresStatement(sql, parameters)).bool(0, 0) {
        try #require(ContinuousClock.now < deadline, "never became true: \(sql)")
    }
}

/// Waits until the backend is running something and waits for a lock in it.
func waitUntilBlocked(_ backendPID: Int32, seenBy connection: PostgresConnection) async throws {
    let sql = "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)"
    try await waitUntil(connection, sql, [.int32(backendPID)])
}

/// The ``PostgresError`` with which the closure fails.
func postgresError(_ body: () async throws -> Void) async throws -> PostgresError {
    do {
        try await body()
    } catch let error as PostgresError {
        return error
    }
    throw NothingThrown()
}

struct NothingThrown: Error {}
