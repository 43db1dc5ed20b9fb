import PostgresClient
import Store

extension Store {
    /// Terminates other connections' server processes, as an administrator or a network failure would. Their clients
    /// lose what was under way.
    ///
    /// - Parameters:
    ///   - pattern: A LIKE pattern for the connections' `application_name` in `pg_stat_activity`.
    ///   - limit: The maximum number to terminate, chosen at random.
    /// - Returns: The number of terminated connections.
    package func terminateBackends(applicationNameLike pattern: String, limit: Int = .max) async throws -> Int {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE pg_terminate_backend(b.pid)) FROM (
                SELECT a.pid FROM pg_stat_activity a
                WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.application_name LIKE $1
                ORDER BY random() LIMIT $2
            ) b
            """,
            [.text(pattern), .int64(Int64(limit))]
        )
        return try result.one { Int(try $0.int64()) }
    }

    /// The number of connections whose name matches the pattern.
    package func backends(applicationNameLike pattern: String) async throws -> Int {
        let result = try await query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE $1",
            [.text(pattern)]
        )
        return try result.one { Int(try $0.int64()) }
    }

    /// The ownership history of a delivery's parts: the number of parts, of claims, and of claims that ended with a
    /// lost owner.
    ///
    /// A part that its first owner finished counts as one claim and no loss.
    package func leaseHistory(delivery id: Int64) async throws -> (parts: Int64, claims: Int64, lost: Int64) {
        let result = try await query(
            """
            SELECT count(*), coalesce(sum(p.fencing_token), 0)::bigint,
                coalesce(sum((SELECT count(*) FROM pushmta_engine.delivery_part_recovery r WHERE r.part_id = p.id)), 0)::bigint
            FROM pushmta_engine.delivery_part p WHERE p.delivery_id = $1
            """,
            [.int64(id)]
        )
        return try result.one { row in (try row.int64(), try row.int64(), try row.int64()) }
    }

    /// Whether a synchronous replica follows and has everything committed so far.
    package func hasSynchronousReplica() async throws -> Bool {
        let followers = try await query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
            .one { try $0.int64() }
        guard followers > 0 else { return false }
        // A transaction with its own id writes a commit record. It is acknowledged when the replica has that record and
        // all before it.
        try await query("SELECT pg_current_xact_id()::text")
        return true
    }
}

extension Store {
    /// Holds a snapshot open on its own connection while the closure runs. It affects vacuum as a long report does.
    /// Cancelling the task ends it.
    package func holdSnapshot<T: Sendable>(_ body: (SnapshotReader) async throws -> T) async throws -> T {
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

/// Reads a little in a snapshot that is held open, as a long report does.
package struct SnapshotReader: Sendable {
    let transaction: PostgresTransaction

    /// Counts deliveries and up to 1,000 subscriptions, as they were when the snapshot was taken.
    @discardableResult
    package func read() async throws -> Int64 {
        try await transaction.execute(
            PostgresStatement(
                """
                SELECT (SELECT count(*) FROM pushmta_engine.delivery)
                    + (SELECT count(*) FROM (SELECT FROM pushmta_engine.subscription LIMIT 1000) s)
                """
            )
        ).one { try $0.int64() }
    }
}
