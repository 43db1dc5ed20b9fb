/// When a message that was refused for now is tried again.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a message that the gateway never processed is sent again at once, before it counts as refused.
    ///
    /// Go's HTTP/2 client uses the same number; each resend is free for the gateway and costs us little.
    public static let maximumUnprocessedResends = 6

    /// How many attempts a message has after its first.
    public var maximumRetries: Int
    /// The pauses between attempts, when the gateway does not ask for a certain one.
    public var backOff: BackOff

    /// Makes a policy.
    public init(maximumRetries: Int, backOff: BackOff) {
        self.maximumRetries = maximumRetries
        self.backOff = backOff
    }

    /// Decides about a message whose attempt number `attempt` (counted from 1) was refused.
    ///
    /// Times are milliseconds since 1970 of one clock, the database's. A pause that the gateway asks for is obeyed, and
    /// jitter is added to it, never taken away; one that is only advised gives way to the policy's own when it would outlast the
    /// message. `validUntilMilliseconds` nil means no end.
    public func decide(
        attempt: Int,
        retryAfterMilliseconds: Int32? = nil,
        isAdvice: Bool = false,
        nowMilliseconds: Int64,
        validUntilMilliseconds: Int64? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        guard attempt <= maximumRetries else { return .exhausted }
        var asked: Int64?
        if let retryAfterMilliseconds {
            // As asked, and up to a fifth more, so that those who were asked together do not come back together.
            let least = Int64(max(retryAfterMilliseconds, 0))
            asked = least + Int64.random(in: 0...least / 5, using: &generator)
        }
        if isAdvice, let end = validUntilMilliseconds, let pause = asked, nowMilliseconds > end &- pause { asked = nil }
        let pause = asked ?? backOff.pause(afterFailures: attempt - 1, using: &generator).wholeMilliseconds
        let (time, overflow) = nowMilliseconds.addingReportingOverflow(pause)
        if overflow { return .expired }
        if let end = validUntilMilliseconds, time > end { return .expired }
        return .again(notBeforeMilliseconds: time)
    }
}

extension Duration {
    /// Milliseconds, rounded down; at most a century.
    fileprivate var wholeMilliseconds: Int64 {
        let century: Int64 = 100 * 365 * 24 * 3600
        let (seconds, attoseconds) = components
        return min(max(seconds, 0), century) * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
