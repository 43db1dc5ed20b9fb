import PostgresClient

/// Reads a little in a snapshot that is held open, as a long report does.
public struct SnapshotReader: Sendable {
    let transaction: PostgresTransaction

    /// Counts deliveries and up to 1,000 subscriptions, as they were when the snapshot was taken.
    @discardableResult
    public func read() async throws -> Int64 {
        try await transaction.execute(
            PostgresStatement(
                """
                SELECT (SELECT count(*) FROM pushmta_engine.delivery)
                    + (SELECT count(*) FROM (SELECT FROM pushmta_engine.subscription LIMIT 1000) s)
                """
            )
        ).int64(0, 0)
    }
}
