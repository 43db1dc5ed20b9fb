import PostgresClient

extension Store {
    /// Marks this moment in the WAL, so that a restore can end there, and has the segment that it is in archived.
    ///
    /// - Returns: The file name of that segment; when it is in the archive, the moment can be restored.
    public func markRestorePoint(_ name: String) async throws -> String {
        let result = try await query("SELECT pg_walfile_name(pg_create_restore_point($1))", [.text(name)])
        try await query("SELECT pg_switch_wal()::text")
        return try result.text(0, 0)
    }

    /// The fencing token of each part of a delivery: its claims so far.
    public func claimTokens(ofDelivery id: Int64) async throws -> [Int64: Int64] {
        let result = try await query(
            "SELECT id, fencing_token FROM pushmta_engine.delivery_part WHERE delivery_id = $1",
            [.int64(id)]
        )
        let pairs = try all(result) { rows, row in (try rows.int64(row, 0), try rows.int64(row, 1)) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
