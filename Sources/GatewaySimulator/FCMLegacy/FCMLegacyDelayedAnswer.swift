import NIOCore

/// An answer that waits for its time.
struct FCMLegacyDelayedAnswer {
    var judgement: FCMLegacyJudgement
    /// When its latency is over.
    var due: NIODeadline
    /// The messages were recorded when they came; otherwise they are only now, if the connection is still there.
    var isTaken: Bool
    var wakeUp: Scheduled<Void>?
}
