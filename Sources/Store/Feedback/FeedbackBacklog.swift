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
