/// When a message is tried again after an attempt that failed.
///
/// An attempt that failed for the gateway's sake (``AnswerFault/sparesAttempt``) counts for nothing and has its own pause, ``gatewayPause``.
public struct RetryPolicy: Sendable, Hashable {
    /// How the attempts of a message are spread.
    public enum Schedule: String, Sendable, Hashable, Codable, CaseIterable {
        /// Adobe Campaign's: the retries that the delivery allows come on the first day, its period apart; after them one a day until the
        /// validity is over.
        case daily
        /// The retries that the delivery allows, after pauses that double from its period to a day.
        case exponential

        /// The period of a delivery that names none: Adobe's hour, and the 10 s that Firebase asks for between attempts.
        public var usualPeriod: Duration { self == .daily ? .seconds(3_600) : .seconds(10) }
    }

    /// What a delivery says of its schedule.
    public enum ScheduleSetting: String, Sendable, Hashable, Codable, CaseIterable {
        /// That of its kind.
        case byKind = "default"
        /// ``Schedule/daily``.
        case daily
        /// ``Schedule/exponential``.
        case exponential

        /// The schedule that it means: Adobe's for a batch delivery, while a message of a continuous one is wanted soon.
        func schedule(isContinuous: Bool) -> Schedule {
            switch self {
            case .byKind: isContinuous ? .exponential : .daily
            case .daily: .daily
            case .exponential: .exponential
            }
        }
    }

    /// How often a message that the gateway never processed is sent again at once, before it counts as refused by the gateway.
    ///
    /// Go's HTTP/2 client uses the same number; each resend is free for the gateway and costs us little.
    public static let maximumUnprocessedResends = 6
    /// How often a lone message gets an answer that no gateway gives, or that nobody knows, while others pass, before it fails: with the
    /// pauses of ``gatewayPause`` some five minutes.
    public static let maximumUnexplainedRefusals = 10
    /// How often the same happens to a message while nothing else is sent, so that it may be the gateway that is out: with pauses of up to
    /// ten minutes most of a day, longer than any outage of a gateway that is on record.
    public static let maximumLoneRefusals = 100
    /// Firebase asks for at least 10 s between attempts at a failing server; a minute is what it asks for where a quota is used up.
    private static let gatewayBackOff = BackOff(initial: .seconds(10), maximum: .seconds(60), floor: .seconds(1))
    private static let loneBackOff = BackOff(initial: .seconds(10), maximum: .seconds(600), floor: .seconds(1))
    /// A resend of what may have arrived is spread as transactional messages are, whatever the delivery's schedule: it is no answer.
    private static let ambiguousBackOff = BackOff(initial: .seconds(10), maximum: .seconds(86_400), floor: .seconds(5))

    /// How many attempts a message has after its first; with ``Schedule/daily`` on the first day.
    public var maximumRetries: Int
    public var schedule: Schedule
    /// The first pause; with ``Schedule/daily`` each of the first day.
    public var period: Duration

    /// The policy of a delivery.
    ///
    /// - Parameter periodSeconds: what the delivery says, which is as good as its word; nil for the schedule's usual period.
    public init(maximumRetries: Int, setting: ScheduleSetting, isContinuous: Bool, periodSeconds: Int32?) {
        let schedule = setting.schedule(isContinuous: isContinuous)
        self.init(
            maximumRetries: maximumRetries,
            schedule: schedule,
            period: periodSeconds.map { .seconds(Int64(max(1, $0))) } ?? schedule.usualPeriod
        )
    }

    public init(maximumRetries: Int, schedule: Schedule, period: Duration) {
        self.maximumRetries = maximumRetries
        self.schedule = schedule
        self.period = period
    }

    /// Decides about a message whose attempt number `attempt` (counted from 1) failed for its own sake, or was not answered.
    ///
    /// Times are milliseconds since 1970 of one clock, the database's. A pause that the gateway asks for is the least; jitter is added,
    /// never taken away. `validUntilMilliseconds` nil means no end; then a daily schedule ends with the retries of the first day.
    public func decide(
        attempt: Int,
        isAmbiguous: Bool = false,
        retryAfterMilliseconds: Int32? = nil,
        nowMilliseconds: Int64,
        validUntilMilliseconds: Int64? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        let goesOnDaily = schedule == .daily && !isAmbiguous && maximumRetries > 0 && validUntilMilliseconds != nil
        guard attempt <= maximumRetries || goesOnDaily else { return .exhausted }
        let own =
            isAmbiguous
            ? Self.ambiguousBackOff.pause(afterFailures: attempt - 1, using: &generator)
            : pause(attempt: attempt, using: &generator)
        let asked = Self.asked(retryAfterMilliseconds, using: &generator)
        let (time, overflow) = nowMilliseconds.addingReportingOverflow(max(own.wholeMilliseconds, asked))
        if overflow { return .expired }
        if let end = validUntilMilliseconds, time > end { return .expired }
        return .again(notBeforeMilliseconds: time)
    }

    /// The pause, in milliseconds, of a message that was refused for the gateway's sake while others pass.
    ///
    /// - Parameters:
    ///   - refusals: how often that has happened before.
    ///   - isLone: nothing says that others pass, and the message's tries are bounded.
    ///   - leastMilliseconds: what the gateway asked for, or its documents advise.
    public static func gatewayPause(
        refusals: Int,
        isLone: Bool = false,
        leastMilliseconds: Int32?,
        using generator: inout some RandomNumberGenerator
    ) -> Int64 {
        let backOff = isLone ? loneBackOff : gatewayBackOff
        let own = backOff.pause(afterFailures: refusals, using: &generator).wholeMilliseconds
        return max(own, asked(leastMilliseconds, using: &generator))
    }

    private func pause(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        switch schedule {
        case .exponential:
            // A retry comes a day later at most.
            return BackOff(initial: period, maximum: max(period, .seconds(86_400)), floor: period / 2)
                .pause(afterFailures: attempt - 1, using: &generator)
        case .daily:
            let least = attempt <= maximumRetries ? period : max(period, .seconds(86_400))
            // Up to a fifth more, so that those who were refused together do not come back together.
            return least + least / 5 * Double.random(in: 0...1, using: &generator)
        }
    }

    /// As asked, and up to a fifth more, so that those who were asked together do not come back together.
    private static func asked(_ milliseconds: Int32?, using generator: inout some RandomNumberGenerator) -> Int64 {
        let least = Int64(max(milliseconds ?? 0, 0))
        return least + Int64.random(in: 0...least / 5, using: &generator)
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

/// What to do with a message that was refused for now.
public enum RetryDecision: Sendable, Hashable {
    /// Try it again, not before this time in milliseconds since 1970.
    case again(notBeforeMilliseconds: Int64)
    /// Its next attempt would come after its validity: it ends as ``MessageStatus/ignored`` with reason `expired`.
    case expired
    /// It has had all its attempts: it ends as ``MessageStatus/failed``.
    case exhausted
}
