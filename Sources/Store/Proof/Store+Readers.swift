import PostgresClient

extension Store {
    /// Holds a snapshot of the database open while the closure runs, on a connection of its own: what a long report does to
    /// vacuum. Cancelling the task ends it.
    public func holdSnapshot<T: Sendable>(_ body: (SnapshotReader) async throws -> T) async throws -> T {
        let connection = try await PostgresConnection.connect(configuration)
        do {
            let value = try await connection.transaction(.snapshot) { transaction in
                try await transaction.execute(
                    PostgresStatement("SET LOCAL idle_in_transaction_session_timeout = 0", prepare: false)
                )
                try await transaction.execute(PostgresStatement("SELECT count(*) FROM pushmta.delivery_progress"))
                return try await body(SnapshotReader(transaction: transaction))
            }
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }
}
