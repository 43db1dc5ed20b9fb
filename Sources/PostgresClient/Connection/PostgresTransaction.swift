/// A transaction in progress; valid until its closure returns.
package struct PostgresTransaction: Sendable {
    let connection: PostgresConnection
    let session: UInt64

    /// Runs one statement in the transaction.
    @discardableResult
    package func execute(_ statement: PostgresStatement) async throws -> PostgresResult {
        try await connection.execute([statement], session: session)[0]
    }

    /// Runs statements in order, in one round trip. After an error the transaction can only be rolled back, wholly or
    /// to a savepoint.
    @discardableResult
    package func execute(_ group: [PostgresStatement]) async throws -> [PostgresResult] {
        try await connection.execute(group, session: session)
    }

    /// Copies rows into a table within the transaction, like the connection's `copyIn`.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    package func copyIn<Rows: AsyncSequence>(
        _ sql: String,
        rows: Rows,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int64 where Rows.Element == [UInt8] {
        try await connection.copyIn(sql, rows: rows, session: session, isolation: isolation)
    }

    /// Copies one buffer of rows into a table with a `COPY … FROM STDIN` statement.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    package func copyIn(_ sql: String, rows: [UInt8]) async throws -> Int64 {
        try await connection.copyIn(sql, rows: PostgresConnection.stream(of: rows), session: session)
    }
}

/// The isolation of a transaction.
package enum PostgresTransactionMode: Sendable, Hashable {
    /// Each statement sees what was committed before it began; PostgreSQL's default.
    case readCommitted
    /// All statements see the snapshot of the first; a write conflict fails with SQLSTATE 40001.
    case repeatableRead
    /// Read-only, with one snapshot for all statements: for counts that must agree.
    case snapshot
    /// As if transactions ran serially; may fail with SQLSTATE 40001.
    case serializable

    var begin: String {
        switch self {
        case .readCommitted: "BEGIN"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        }
    }
}
