import PostgresClient

/// A feedback worker as monitoring shows it.
package struct FeedbackWorkerRow: Sendable {
    package let id: String
    /// The name of its host.
    package let host: String
    package let pid: Int32
    package let version: String
    /// `acting`, `standby`, `stopped`, or `gone` if it has sent no heartbeat for 30 s.
    package let state: String
    /// The age of its last heartbeat.
    package let heartbeatAgeSeconds: Double
    package let lastAction: String
    /// Token events that it decided.
    package let tokenEvents: Int64
    package let messagesCounted: Int64
    package let hitsCounted: Int64
    /// Hits that it loaded from tracking spools.
    package let hitsLoaded: Int64
    /// Tracking spools on its host whose process has ended and whose hits are not loaded yet.
    package let waitingSpools: Int32
    /// The bytes of these hits, as far as known.
    package let waitingSpoolBytes: Int64
}

extension Store {
    /// Without a heartbeat for this long, another worker takes over. The same lease as everywhere else.
    package static let feedbackLeaseSeconds = 15
    /// Without a heartbeat of any worker for this long, others do the most urgent of its work.
    package static let feedbackSilenceSeconds = 30

    /// Updates a worker's row, and makes it active if no other is; returns whether it is the active one.
    package func feedbackHeartbeat(_ heartbeat: FeedbackHeartbeat, leaseSeconds: Int = Store.feedbackLeaseSeconds)
        async throws -> Bool
    {
        try await query(
            """
            SELECT pushmta_engine.feedback_heartbeat($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9 * interval '1 second')
            """,
            [
                .text(heartbeat.worker), .text(heartbeat.host), .int32(heartbeat.pid), .text(heartbeat.version),
                .text(heartbeat.lastAction),
                .int64(heartbeat.tokenEvents), .int64(heartbeat.messagesCounted), .int64(heartbeat.hitsCounted),
                .int32(Int32(clamping: leaseSeconds)),
            ]
        ).one { try $0.bool() }
    }

    /// Records a worker's tracking spools that wait; writes nothing if the row already says so.
    package func noteFeedbackSpools(_ heartbeat: FeedbackHeartbeat) async throws {
        try await query(
            """
            UPDATE pushmta_engine.feedback_worker w
            SET hits_loaded = w.hits_loaded + $2, waiting_spools = $3, waiting_spool_bytes = $4
            WHERE w.id = $1::uuid AND ($2 <> 0 OR w.waiting_spools <> $3 OR w.waiting_spool_bytes <> $4)
            """,
            [
                .text(heartbeat.worker), .int64(heartbeat.hitsLoaded), .int32(heartbeat.waitingSpools),
                .int64(heartbeat.waitingSpoolBytes),
            ]
        )
    }

    /// Marks a worker as stopped in order, so that another one takes over at once.
    package func feedbackStop(worker: String) async throws {
        try await query("SELECT pushmta_engine.feedback_stop($1::uuid)", [.text(worker)])
    }

    /// Whether a worker is active that has sent a heartbeat lately.
    package func isFeedbackWorkerActing() async throws -> Bool {
        try await query(
            "SELECT pushmta_engine.feedback_is_acting($1 * interval '1 second')",
            [.int32(Int32(Self.feedbackSilenceSeconds))]
        ).one { try $0.bool() }
    }

    /// Whether a child is sending: background work then leaves the processors to it.
    package func isSending() async throws -> Bool {
        try await query("SELECT EXISTS (SELECT FROM pushmta_engine.delivery_part WHERE state = 'claimed')")
            .one { try $0.bool() }
    }

    /// All workers that sent a heartbeat in the last week, the active one first.
    package func feedbackWorkers() async throws -> [FeedbackWorkerRow] {
        let result = try await query(
            """
            SELECT id::text, host, pid, version, state, heartbeat_age_seconds, last_action, token_events, messages_counted, hits_counted,
                hits_loaded, waiting_spools, waiting_spool_bytes
            FROM pushmta.feedback_worker ORDER BY state <> 'acting', last_heartbeat DESC, id
            """
        )
        return try all(result) { row in
            FeedbackWorkerRow(
                id: try row.text(),
                host: try row.text(),
                pid: try row.int32(),
                version: try row.text(),
                state: try row.text(),
                heartbeatAgeSeconds: try row.double(),
                lastAction: try row.text(),
                tokenEvents: try row.int64(),
                messagesCounted: try row.int64(),
                hitsCounted: try row.int64(),
                hitsLoaded: try row.int64(),
                waitingSpools: try row.int32(),
                waitingSpoolBytes: try row.int64()
            )
        }
    }
}
