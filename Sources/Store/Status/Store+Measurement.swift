import PostgresClient

extension Store {
    /// The server settings on which durability rests, with their values, for benches and the doctor to print.
    public func durabilitySettings() async throws -> [(name: String, value: String)] {
        let result = try await query(
            """
            SELECT name, setting FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'server_version')
            ORDER BY name
            """
        )
        return try all(result) { rows, row in (name: try rows.text(row, 0), value: try rows.text(row, 1)) }
    }

    /// Bytes of write-ahead log since the cluster began; the difference of two is what was written between.
    public func walPosition() async throws -> Int64 {
        try await query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").int64(0, 0)
    }
}
