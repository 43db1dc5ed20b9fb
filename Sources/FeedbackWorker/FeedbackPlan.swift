import PushCore

/// Decides which duty comes next, and how long the worker rests after it.
///
/// The duty that has been due longest comes next, so that none waits for the end of another one's backlog. The worker
/// rests in proportion to the time that a piece took, because sending needs the same processors and the same disk.
struct FeedbackPlan: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Step: Equatable {
        case run(FeedbackDuty)
        case rest(until: Instant)
    }

    /// The rest while no messages are sent, as a fraction of a piece's time: other sessions store and read too.
    static let idleRest = 0.1
    /// A backlog of token events that lasts this long gets half of the time even while messages are sent: sending to
    /// dead tokens costs more.
    static let timeout = Duration.seconds(15)
    /// How often a worker that stands by checks whether it should act.
    static let standbyInterval = Duration.seconds(1)

    private let share: Double
    private let maxPause: Duration
    private var due: [FeedbackDuty: Instant]
    private var pauses: [FeedbackDuty: BackOff] = [:]
    private var restsUntil: Instant
    private var backlogSince: Instant?
    private(set) var isActing = false

    /// - Parameters:
    ///   - sharePercent: the share of the time it works while messages are sent.
    ///   - maxPause: the longest pause after an error.
    init(sharePercent: Int, maxPause: Duration, at now: Instant) {
        share = Double(min(max(sharePercent, 1), 100)) / 100
        self.maxPause = maxPause
        due = Dictionary(uniqueKeysWithValues: FeedbackDuty.allCases.map { ($0, now) })
        restsUntil = now
    }

    /// Sets whether this is the active worker.
    mutating func setActing(_ value: Bool) {
        isActing = value
    }

    func next(at now: Instant) -> Step {
        guard isActing else { return .rest(until: now + Self.standbyInterval) }
        guard restsUntil <= now else { return .rest(until: restsUntil) }
        // The order of the cases decides between duties that are due at the same time.
        let first = FeedbackDuty.allCases.min { (due[$0] ?? now) < (due[$1] ?? now) }
        guard let first, let time = due[first] else { return .rest(until: now + Self.standbyInterval) }
        return time <= now ? .run(first) : .rest(until: time)
    }

    /// Whether more token events wait than one piece of work processes.
    var hasTokenBacklog: Bool { backlogSince != nil }

    /// Takes the result and the time of a piece of work.
    mutating func finished(
        _ duty: FeedbackDuty,
        _ round: FeedbackRound,
        took: Duration,
        isSending: Bool,
        at now: Instant
    ) {
        pauses[duty] = nil
        due[duty] = round.isMore ? now : now + duty.interval
        if duty == .tokenEvents { backlogSince = round.isMore ? backlogSince ?? now : nil }
        restsUntil = now + took * rest(isSending: isSending, at: now)
    }

    /// Takes the failure of a duty; returns the pause until the next attempt.
    mutating func failed(_ duty: FeedbackDuty, at now: Instant) -> Duration {
        var pause =
            pauses[duty] ?? BackOff(initial: .milliseconds(200), maximum: maxPause, floor: .milliseconds(50))
        let time = pause.next()
        pauses[duty] = pause
        due[duty] = now + time
        return time
    }

    private func rest(isSending: Bool, at now: Instant) -> Double {
        guard isSending else { return Self.idleRest }
        let isLate = backlogSince.map { now - $0 >= Self.timeout } ?? false
        let share = isLate ? max(share, 0.5) : share
        return max((1 - share) / share, Self.idleRest)
    }
}

/// The result of a piece of work.
struct FeedbackRound: Sendable, Equatable {
    /// The number of items done.
    var count: Int64
    /// Whether there may be more to do at once.
    var isMore: Bool

    static let idle = FeedbackRound(count: 0, isMore: false)
}
