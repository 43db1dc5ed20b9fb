/// Decides when a message is tried again after a failed attempt.
///
/// An attempt whose failure is not the message's (``AnswerFault/sparesAttempt``) does not count and has its own pause,
/// ``gatewayPause``.
package struct RetryPolicy: Sendable, Hashable {
    /// How the attempts of a message are spaced.
    package enum Schedule: String, Sendable, Hashable, Codable, CaseIterable {
        /// Adobe Campaign's schedule. On the first day it makes the retries that the delivery allows, one period apart.
        /// Then it makes one a day until the validity ends.
        case daily
        /// The retries that the delivery allows, with pauses that double from its period up to a day.
        case exponential

        /// The period of a delivery that sets none: Adobe's hour, or the 10 s that Firebase asks for between attempts.
        package var usualPeriod: Duration { .seconds(usualSeconds) }

        /// ``usualPeriod`` in seconds.
        package var usualSeconds: Int64 { self == .daily ? 3_600 : 10 }
    }

    /// The schedule setting of a delivery.
    package enum ScheduleSetting: String, Sendable, Hashable, Codable, CaseIterable {
        /// The schedule of its kind.
        case byKind = "default"
        /// ``Schedule/daily``.
        case daily
        /// ``Schedule/exponential``.
        case exponential

        /// The schedule that the setting selects. By kind, a batch delivery uses Adobe's; a continuous delivery uses
        /// the exponential one, as its messages are wanted soon.
        package func schedule(isContinuous: Bool) -> Schedule {
            switch self {
            case .byKind: isContinuous ? .exponential : .daily
            case .daily: .daily
            case .exponential: .exponential
            }
        }
    }

    /// How often a message that the gateway never processed is resent at once before it counts as refused by the
    /// gateway.
    ///
    /// Go's HTTP/2 client uses the same number. A resend costs the gateway nothing and PushMTA little.
    package static let maxUnprocessedResends = 6
    /// How often a lone message may get an answer that no gateway gives, or one with an unknown reason, while other
    /// messages pass. Then it fails. With the pauses of ``gatewayPause`` this takes about five minutes.
    package static let maxUnexplainedRefusals = 10
    /// The same limit while no other message is sent, so that the gateway itself may be down. With pauses of up to ten
    /// minutes it takes most of a day, which is longer than any recorded gateway outage.
    package static let maxLoneRefusals = 100
    /// Firebase asks for at least 10 s between attempts while a server fails, and for a minute if a quota is used up.
    private static let gatewayBackOff = BackOff(initial: .seconds(10), maximum: .seconds(60), floor: .seconds(1))
    private static let loneBackOff = BackOff(initial: .seconds(10), maximum: .seconds(600), floor: .seconds(1))
    /// Ambiguous messages are always resent with exponential back-off, whatever the delivery's schedule: the gateway
    /// has not refused them.
    private static let ambiguousBackOff = BackOff(initial: .seconds(10), maximum: .seconds(86_400), floor: .seconds(5))

    /// The number of retries of a message; with ``Schedule/daily`` those of the first day.
    package var maxRetries: Int
    package var schedule: Schedule
    /// The first pause; with ``Schedule/daily`` every pause of the first day.
    package var period: Duration

    /// The policy of a delivery.
    ///
    /// - Parameter periodSeconds: the period that the delivery sets, used as it is; nil for the schedule's usual
    ///   period.
    package init(maxRetries: Int, setting: ScheduleSetting, isContinuous: Bool, periodSeconds: Int32?) {
        let schedule = setting.schedule(isContinuous: isContinuous)
        self.init(
            maxRetries: maxRetries,
            schedule: schedule,
            period: periodSeconds.map { .seconds(Int64(max(1, $0))) } ?? schedule.usualPeriod
        )
    }

    package init(maxRetries: Int, schedule: Schedule, period: Duration) {
        self.maxRetries = maxRetries
        self.schedule = schedule
        self.period = period
    }

    /// Decides what to do with a message whose attempt number `attempt` (counted from 1) failed because of the message,
    /// or was not answered.
    ///
    /// Times are milliseconds since 1970 on the database's clock. A pause that the gateway asks for is the minimum;
    /// jitter is only added. If `validUntilMilliseconds` is nil there is no end, and a daily schedule ends with the
    /// retries of the first day.
    package func decide(
        attempt: Int,
        isAmbiguous: Bool = false,
        retryAfterMilliseconds: Int32? = nil,
        nowMilliseconds: Int64,
        validUntilMilliseconds: Int64? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        let goesOnDaily = schedule == .daily && !isAmbiguous && maxRetries > 0 && validUntilMilliseconds != nil
        guard attempt <= maxRetries || goesOnDaily else { return .exhausted }
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

    /// The pause, in milliseconds, of a message whose attempt failed because of the gateway while others pass.
    ///
    /// - Parameters:
    ///   - refusals: how often this has happened before.
    ///   - isLone: whether there is no sign that others pass while the message's attempts are bounded.
    ///   - minMilliseconds: the minimum pause that the gateway asked for or its documentation advises.
    package static func gatewayPause(
        refusals: Int,
        isLone: Bool = false,
        minMilliseconds: Int32?,
        using generator: inout some RandomNumberGenerator
    ) -> Int64 {
        let backOff = isLone ? loneBackOff : gatewayBackOff
        let own = backOff.pause(afterFailures: refusals, using: &generator).wholeMilliseconds
        return max(own, asked(minMilliseconds, using: &generator))
    }

    private func pause(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        switch schedule {
        case .exponential:
            // A retry comes at most a day later.
            return BackOff(initial: period, maximum: max(period, .seconds(86_400)), floor: period / 2)
                .pause(afterFailures: attempt - 1, using: &generator)
        case .daily:
            let least = attempt <= maxRetries ? period : max(period, .seconds(86_400))
            // Up to a fifth more, so that messages refused together are not retried together.
            return least + least / 5 * Double.random(in: 0...1, using: &generator)
        }
    }

    /// The pause that the gateway asked for plus up to a fifth, so that messages refused together are not retried
    /// together.
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

/// What to do with a message that was temporarily refused.
package enum RetryDecision: Sendable, Hashable {
    /// Try it again, not before this time in milliseconds since 1970.
    case again(notBeforeMilliseconds: Int64)
    /// Its next attempt would come after the end of its validity: it becomes ``MessageStatus/ignored`` with reason
    /// `expired`.
    case expired
    /// It has used all its attempts: it becomes ``MessageStatus/failed``.
    case exhausted
}
