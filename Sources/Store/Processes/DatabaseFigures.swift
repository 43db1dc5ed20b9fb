import PostgresClient

/// Figures of the database itself, for metrics. What the role may not see is left out (`pg_monitor` may see
/// everything).
package struct DatabaseFigures: Sendable {
    package struct Replica: Sendable, Hashable {
        /// The application name of its connection.
        package let name: String
        /// Whether commits wait for it.
        package let isSynchronous: Bool
        /// How far it lags behind, in seconds: the time until a commit is visible there.
        package let lagSeconds: Double
    }

    /// The streaming replicas.
    package let replicas: [Replica]
    /// The age of the oldest transaction that keeps dead rows from being removed, in seconds; 0 if there is none.
    package let oldestSnapshotSeconds: Double
    /// Dead rows, by table, with its partitions.
    package let deadRows: [String: Int64]
}

extension Store {
    /// Reads the figures of the database.
    func databaseFigures() async throws -> DatabaseFigures {
        let replicas = try await query(
            // Columns that the role may not see are null. An idle replica has no lag; replicas with the same name are
            // not distinguished.
            """
            SELECT r.application_name, bool_or(r.sync_state IN ('sync', 'quorum')),
                coalesce(extract(epoch FROM max(r.replay_lag)), 0)::double precision
            FROM pg_stat_replication r WHERE r.state = 'streaming' AND r.application_name IS NOT NULL GROUP BY 1 ORDER BY 1
            """
        )
        let snapshot = try await query(
            """
            SELECT coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start)), 0)::double precision
            FROM pg_stat_activity a
            WHERE a.datname = current_database() AND a.backend_xmin IS NOT NULL AND a.xact_start IS NOT NULL
                AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
            """
        )
        // Tables without columns are locks.
        let dead = try await query(
            """
            SELECT c.relname, sum(s.n_dead_tup)::bigint
            FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = coalesce(pg_partition_root(s.relid), s.relid)
            WHERE s.schemaname = 'pushmta_engine' AND c.relnatts > 0 GROUP BY 1 ORDER BY 1
            """
        )
        return DatabaseFigures(
            replicas: try all(replicas) { row in
                DatabaseFigures.Replica(
                    name: try row.text(),
                    isSynchronous: try row.bool(),
                    lagSeconds: try row.double()
                )
            },
            oldestSnapshotSeconds: try snapshot.one { try $0.double() },
            deadRows: Dictionary(
                try all(dead) { row in (try row.text(), try row.int64()) },
                uniquingKeysWith: +
            )
        )
    }
}

extension Store {
    /// The server's connections now. Any role may ask, and the sessions of all roles and databases count.
    package func connectionRoom() async throws -> ConnectionRoom {
        try await query(Self.connectionRoomSQL).one { row in
            ConnectionRoom(limit: Int(try row.int64()), used: Int(try row.int64()))
        }
    }

    static let connectionRoomSQL = """
        SELECT (pg_catalog.current_setting('max_connections')::integer
                - pg_catalog.current_setting('superuser_reserved_connections')::integer)::bigint,
            (SELECT coalesce(pg_catalog.sum(s.numbackends), 0) FROM pg_catalog.pg_stat_database s)::bigint
        """
}
