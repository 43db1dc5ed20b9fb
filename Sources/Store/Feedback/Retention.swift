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
        ).one { try $0.textOrNil() }
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

    /// Deletes the rows of web processes whose hits are all of days that are gone, as the worker that acts.
    ///
    /// - Returns: how many; nil if another worker acts.
    public func purgeTrackingSources(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_tracking_sources($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes what deliveries leave behind their counts whose outcomes are gone, as the worker that acts: targets with their variables,
    /// exclusions, parts, records of lost owners.
    ///
    /// - Parameters:
    ///   - limit: rows at most, about; 0 when nothing is left.
    ///   - days: how old they are at least.
    /// - Returns: how many; nil if another worker acts.
    public func purgeDeliveryRows(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_delivery_rows($2, (now() AT TIME ZONE 'UTC')::date - $3::integer)",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }

    /// Deletes children that ended, and hosts that were heard of last, more than so many days ago, as the worker that acts.
    ///
    /// - Returns: how many children; nil if another worker acts.
    public func purgeChildren(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_children($2, $3 * interval '1 day')",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }
}

/// A table whose partitions are dropped when they are old enough.
public enum PartitionedTable: String, Sendable, Hashable, CaseIterable {
    /// The outcomes of messages.
    case broadLog = "broad_log"
    /// Who each message is for.
    case partTarget = "delivery_part_target"
    /// Receipts and clicks.
    case trackingLog = "tracking_log"
    /// Who was left out, and why.
    case exclusionLog = "exclusion_log"
}
