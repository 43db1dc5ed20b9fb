/// The inside of a transaction block; valid until the closure that got it returns.
public struct PostgresTransaction: Sendable {
    let connection: PostgresConnection
    let session: UInt64

    /// Runs one statement in the transaction.
    @discardableResult
    public func execute(_ statement: PostgresStatement) async throws -> PostgresResult {
        try await connection.execute([statement], session: session)[0]
    }

    /// Runs statements in order, sent at once. After an error the transaction can only be rolled back, or back to a
    /// savepoint.
    @discardableResult
    public func execute(_ group: [PostgresStatement]) async throws -> [PostgresResult] {
        try await connection.execute(group, session: session)
    }

    /// Copies rows into a table, as the connection's own `copyIn` does, as a part of the transaction.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    public func copyIn<Rows: AsyncSequence>(
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
    public func copyIn(_ sql: String, rows: [UInt8]) async throws -> Int64 {
        try await connection.copyIn(sql, rows: PostgresConnection.stream(of: rows), session: session)
    }
}
