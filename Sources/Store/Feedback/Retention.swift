import PostgresClient

extension Store {
    /// Drops the oldest partition of a table that is more than this many days old, as the active worker, unless
    /// messages of its day are unfinished or not counted yet.
    ///
    /// - Returns: its name, "" if there is none or another session was in the way; nil if another worker is active.
    package func dropOldPartition(worker: String, of table: PartitionedTable, days: Int) async throws -> String? {
        try await query(
            """
            SELECT CASE WHEN pushmta_engine.feedback_fence($1::uuid) THEN coalesce(
                pushmta_engine.drop_old_partition($2, (now() AT TIME ZONE 'UTC')::date - $3::integer), '') END
            """,
            [.text(worker), .text(table.rawValue), .int32(Int32(clamping: days))]
        ).one { try $0.textOrNil() }
    }

    /// Deletes subscriptions that have been disabled for more than this many days, as the active worker.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func purgeSubscriptions(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_subscriptions($2, $3 * interval '1 day')",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }

    /// Deletes token events that were decided and are more than this many days old, as the active worker.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func purgeTokenEvents(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_token_events($2, $3 * interval '1 day')",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }

    /// Deletes the rows of web processes all of whose hits are of deleted days, as the active worker.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func purgeTrackingSources(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_tracking_sources($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes conversions from before the oldest day whose hits are kept, as the active worker. The counts of experiments
    /// stay.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func purgeConversions(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_conversions($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes the rows of deliveries whose outcomes are deleted, as the active worker: targets with their variables,
    /// exclusions, parts, records of lost owners. Their counts stay.
    ///
    /// - Parameters:
    ///   - limit: the approximate maximum number of rows.
    ///   - days: their minimum age.
    /// - Returns: how many, 0 when nothing is left; nil if another worker is active.
    package func purgeDeliveryRows(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_delivery_rows($2, (now() AT TIME ZONE 'UTC')::date - $3::integer)",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }

    /// Folds, sums up or deletes a piece of the history of frequency caps, as the active worker.
    ///
    /// - Parameter blocks: the approximate maximum number of blocks of 4,096 persons.
    /// - Returns: how many rows it read or deleted, 0 when nothing is left to do; nil if another worker is active.
    package func keepCaps(worker: String, blocks: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.keep_caps($2)", worker, [.int32(Int32(clamping: blocks))])
    }

    /// Takes forgotten persons out of the history of behaviour, up to this many, as the active worker.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func clearForgotten(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.clear_forgotten($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes rows of the history of behaviour that no filter can read any more, up to this many, as the active worker.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func purgeBehaviour(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_behaviour($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes children that ended, and hosts that last reported, more than this many days ago, as the active worker.
    ///
    /// - Returns: how many children; nil if another worker is active.
    package func purgeChildren(worker: String, limit: Int, days: Int) async throws -> Int64? {
        try await fenced(
            "pushmta_engine.purge_children($2, $3 * interval '1 day')",
            worker,
            [.int32(Int32(clamping: limit)), .int32(Int32(clamping: days))]
        )
    }
}

/// A table whose partitions are dropped when they are old enough.
package enum PartitionedTable: String, Sendable, Hashable, CaseIterable {
    /// The outcomes of messages.
    case broadLog = "broad_log"
    /// The targets of parts.
    case partTarget = "delivery_part_target"
    /// Receipts and clicks.
    case trackingLog = "tracking_log"
    /// Subscriptions that were left out, and why.
    case exclusionLog = "exclusion_log"
}
