import PostgresClient

/// What a feedback worker says of itself.
public struct FeedbackHeartbeat: Sendable, Hashable {
    /// Its id, a UUID made at its start.
    public var worker: String
    /// The name of its host.
    public var host: String
    public var pid: Int32
    public var version: String
    /// What it did last, "" if nothing since the last heartbeat.
    public var lastAction = ""
    /// Token events decided since the last heartbeat.
    public var tokenEvents: Int64 = 0
    /// Messages counted since the last heartbeat.
    public var messagesCounted: Int64 = 0
    /// Hits counted since the last heartbeat.
    public var hitsCounted: Int64 = 0
    /// Hits loaded from tracking spools since the last heartbeat.
    public var hitsLoaded: Int64 = 0
    /// Tracking spools on its host with hits that wait though their process is gone.
    public var waitingSpools: Int32 = 0
    /// The bytes of these hits, as far as they are known.
    public var waitingSpoolBytes: Int64 = 0

    /// A heartbeat of a worker that has done nothing yet.
    public init(worker: String, host: String, pid: Int32, version: String) {
        self.worker = worker
        self.host = host
        self.pid = pid
        self.version = version
    }
}

/// A feedback worker as monitoring sees it.
public struct FeedbackWorkerRow: Sendable {
    public let id: String
    /// The name of its host.
    public let host: String
    public let pid: Int32
    public let version: String
    /// `acting`, `standby`, `stopped`, or `gone` if nothing was heard of it for 30 s.
    public let state: String
    /// Since when it is the one that acts; nil if it is not.
    public let actingSince: DatabaseTime?
    /// The age of its last heartbeat.
    public let heartbeatAgeSeconds: Double
    public let lastAction: String
    /// Token events that it decided.
    public let tokenEvents: Int64
    public let messagesCounted: Int64
    public let hitsCounted: Int64
    /// Hits that it loaded from tracking spools.
    public let hitsLoaded: Int64
    /// Tracking spools on its host with hits that wait though their process is gone.
    public let waitingSpools: Int32
    /// The bytes of these hits, as far as they are known.
    public let waitingSpoolBytes: Int64
}

/// What waits for a feedback worker.
public struct FeedbackBacklog: Sendable, Hashable {
    /// The age of the oldest token event that could be applied; nil if there is none.
    public var oldestTokenEventSeconds: Double?
    /// Parts that are done and not counted.
    public var uncountedParts: Int64
    /// The age of the oldest hits that are not counted; nil if there are none.
    public var oldestHitSeconds: Double?
    /// Feedback services of binary gateways that somebody has to read.
    public var services: Int64
    /// Whether a worker acts that was heard of lately.
    public var isWorkerActing: Bool
}

extension Store {
    /// After so long without a heartbeat another worker acts in the place of one. It is the lease of everything else.
    public static let feedbackLeaseSeconds = 15
    /// After so long without a heartbeat of a worker others do the most urgent of its work.
    public static let feedbackSilenceSeconds = 30

    /// Keeps a worker's row, and lets it act if nobody else does; returns whether it is the one that acts.
    public func feedbackHeartbeat(_ heartbeat: FeedbackHeartbeat, leaseSeconds: Int = Store.feedbackLeaseSeconds)
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

    /// Notes what a worker has to do with tracking spools; a row that says so already is not written.
    public func noteFeedbackSpools(_ heartbeat: FeedbackHeartbeat) async throws {
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

    /// Says that a worker has ended in order, so that another one acts at once.
    public func feedbackStop(worker: String) async throws {
        try await query("SELECT pushmta_engine.feedback_stop($1::uuid)", [.text(worker)])
    }

    /// Whether a worker acts that was heard of lately.
    public func isFeedbackWorkerActing() async throws -> Bool {
        try await query(
            "SELECT pushmta_engine.feedback_is_acting($1 * interval '1 second')",
            [.int32(Int32(Self.feedbackSilenceSeconds))]
        ).one { try $0.bool() }
    }

    /// Whether somebody sends: background work then leaves the processors to him.
    public func isSending() async throws -> Bool {
        try await query("SELECT EXISTS (SELECT FROM pushmta_engine.delivery_part WHERE state = 'claimed')")
            .one { try $0.bool() }
    }

    /// All workers that were heard of in the last week, the one that acts first.
    public func feedbackWorkers() async throws -> [FeedbackWorkerRow] {
        let result = try await query(
            """
            SELECT id::text, host, pid, version, state, acting_since, heartbeat_age_seconds, last_action, token_events, messages_counted,
                hits_counted, hits_loaded, waiting_spools, waiting_spool_bytes
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
                actingSince: try row.timeOrNil(),
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

    /// What waits for a worker; read from indexes of what is open.
    public func feedbackBacklog() async throws -> FeedbackBacklog {
        let result = try await query(
            """
            SELECT oldest_token_event_seconds, uncounted_parts, oldest_hit_seconds, feedback_services, worker_acting
            FROM pushmta.feedback_backlog
            """
        )
        return try result.one { row in
            FeedbackBacklog(
                oldestTokenEventSeconds: try row.doubleOrNil(),
                uncountedParts: try row.int64(),
                oldestHitSeconds: try row.doubleOrNil(),
                services: try row.int64(),
                isWorkerActing: try row.bool()
            )
        }
    }
}
