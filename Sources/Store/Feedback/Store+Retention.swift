import PostgresClient

extension Store {
    /// Drops the oldest partition of a table that is more than so many days old, as the worker that acts, unless something there is
    /// still to be done or counted.
    ///
    /// - Returns: its name, "" if there is none or somebody was in the way; nil if another worker acts.
    public func dropOldPartition(worker: String, of table: PartitionedTable, days: Int) async throws -> String? {
        try await query(
            """
            SELECT CASE WHEN pushmta_engine.feedback_fence($1::uuid) THEN coalesce(
                pushmta_engine.drop_old_partition($2, (now() AT TIME ZONE 'UTC')::date - $3::integer), '') END
            """,
            [.text(worker), .text(table.rawValue), .int32(Int32(clamping: days))]
        ).textOrNil(0, 0)
    }

    /// Deletes subscriptions that have been disabled for more than so many days, as the worker that acts.
    ///
    /// - Returns: how many; nil if another worker acts.
    public func purgeSubscriptions(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_subscriptions($2, $3 * interval '1 day')",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }

    /// Deletes token events that were decided and are more than so many days old, as the worker that acts.
    ///
    /// - Returns: how many; nil if another worker acts.
    public func purgeTokenEvents(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_token_events($2, $3 * interval '1 day')",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }
}
