import PostgresClient
import PushCore

extension Store {
    /// Messages that have not ended, by application and age, longest wait first; monitoring rights suffice.
    ///
    /// - Parameter limit: the maximum number of parts to count for each application and priority, so that the cost does
    ///   not grow with the number of parts.
    package func queue(countingAtMost limit: Int32 = 1_000) async throws -> [QueueRow] {
        let result = try await query(
            """
            SELECT q.application, q.account, q.connector, q.ready, q.ready_at_least, q.ready_10s, q.ready_1min, q.ready_10min, q.ready_1h,
                q.ready_older, q.oldest_seconds, q.later, q.claimed, q.held, q.held_at_least, q.waiting_reason
            FROM pushmta.queue($1) q
            """,
            [.int32(limit)]
        )
        return try all(result) { row in
            QueueRow(
                application: try row.text(),
                account: try row.text(),
                connector: try row.choice(),
                ready: try row.int64(),
                isReadyAtLeast: try row.bool(),
                readyByAge: try (0..<5).map { _ in try row.int64() },
                oldestSeconds: try row.doubleOrNil(),
                later: try row.int64(),
                claimed: try row.int64(),
                held: try row.int64(),
                isHeldAtLeast: try row.bool(),
                waitingReason: try row.text()
            )
        }
    }
}
