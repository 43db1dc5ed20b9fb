import Store

/// What waits for a feedback worker.
struct FeedbackBacklog {
    /// The age of the oldest token event that can be applied; nil if there is none.
    let oldestTokenEventSeconds: Double?
    /// Parts that are done but not counted.
    let uncountedParts: Int64
    /// The age of the oldest hits that are not counted; nil if there are none.
    let oldestHitSeconds: Double?
    /// Feedback services of binary gateways that have to be read.
    let services: Int64
    /// Whether a worker is active that has sent a heartbeat lately.
    let isWorkerActing: Bool
}

extension Store {
    func feedbackBacklog() async throws -> FeedbackBacklog {
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
