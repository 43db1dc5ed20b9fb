import PushCore

/// Decides which duty comes next, and how long the worker rests after it.
///
/// The one that has been due for longest comes next, so that none waits for the end of another one's backlog. The worker rests in
/// proportion to the time that a piece took: whoever sends needs the same processors and the same disk.
struct FeedbackPlan: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Step: Equatable {
        case run(FeedbackDuty)
        case rest(until: Instant)
    }

    /// A rest while nobody sends, as part of the time that the piece took: others store and read too.
    static let idleRest = 0.1
    /// A backlog of token events that lasts for so long gets half of the time, whoever sends: messages to dead tokens cost more.
    static let timeout = Duration.seconds(15)
    /// How often it is looked whether there is something to do for one who stands by.
    static let standbyInterval = Duration.seconds(1)

    private let share: Double
    private let longestPause: Duration
    private var due: [FeedbackDuty: Instant]
    private var pauses: [FeedbackDuty: BackOff] = [:]
    private var restsUntil: Instant
    private var backlogSince: Instant?
    private(set) var isActing = false

    /// - Parameters:
    ///   - sharePercent: how much of the time it works while somebody sends.
    ///   - longestPause: the longest pause after an error.
    init(sharePercent: Int, longestPause: Duration, at now: Instant) {
        share = Double(min(max(sharePercent, 1), 100)) / 100
        self.longestPause = longestPause
        due = Dictionary(uniqueKeysWithValues: FeedbackDuty.allCases.map { ($0, now) })
        restsUntil = now
    }

    /// Takes whether this is the worker that acts.
    mutating func setActing(_ value: Bool) {
        isActing = value
    }

    func next(at now: Instant) -> Step {
        guard isActing else { return .rest(until: now + Self.standbyInterval) }
        guard restsUntil <= now else { return .rest(until: restsUntil) }
        // The order of the cases decides between two that are due at the same time.
        let first = FeedbackDuty.allCases.min { (due[$0] ?? now) < (due[$1] ?? now) }
        guard let first, let time = due[first] else { return .rest(until: now + Self.standbyInterval) }
        return time <= now ? .run(first) : .rest(until: time)
    }

    /// Whether token events wait that one piece of work did not reach.
    var hasTokenBacklog: Bool { backlogSince != nil }

    /// Takes what a piece of work came to, and how long it took.
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

    /// Takes that a duty failed; returns the pause until it is tried again.
    mutating func failed(_ duty: FeedbackDuty, at now: Instant) -> Duration {
        var pause =
            pauses[duty] ?? BackOff(initial: .milliseconds(200), maximum: longestPause, floor: .milliseconds(50))
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

/// Something that the worker does again and again, a bounded piece at a time.
enum FeedbackDuty: String, Sendable, CaseIterable {
    case tokenEvents
    case outcomes
    case lateOutcomes
    case hits
    case alarms
    case partitions
    case disabledSubscriptions
    case oldTokenEvents
    case oldTrackingSources
    case forgottenLogs
    case oldDeliveryRows
    case oldChildren
    case oldForgotten
    case oldImports

    /// The time until it is looked at again when nothing was left to do. What people wait for is looked at each second, which costs
    /// a few look-ups in indexes of what is open; late outcomes are rare; what is thrown away has been there for months, and the
    /// database counts these rounds while it holds something back (`retention_passes`).
    var interval: Duration {
        switch self {
        case .tokenEvents, .outcomes, .hits: .seconds(1)
        case .lateOutcomes: .seconds(5)
        // As supervisors do it: where the only one stands still, somebody has to see that.
        case .alarms: .seconds(10)
        // It begins a minute after the request.
        case .forgottenLogs: .seconds(60)
        case .partitions, .disabledSubscriptions, .oldTokenEvents, .oldTrackingSources, .oldDeliveryRows, .oldChildren,
            .oldForgotten, .oldImports:
            .seconds(600)
        }
    }

    /// What the log calls that which it has done.
    var words: String {
        switch self {
        case .tokenEvents: "token events applied"
        case .outcomes: "messages counted"
        case .lateOutcomes: "late outcomes counted"
        case .hits: "hits counted"
        case .alarms: "alarms noted"
        case .partitions: "partitions dropped"
        case .disabledSubscriptions: "disabled subscriptions deleted"
        case .oldTokenEvents: "old token events deleted"
        case .oldTrackingSources: "old tracking sources deleted"
        case .forgottenLogs: "forgotten subscriptions taken out of a day's logs"
        case .oldDeliveryRows: "rows of old deliveries deleted"
        case .oldChildren: "old children deleted"
        case .oldForgotten: "old notes of forgotten subscriptions deleted"
        case .oldImports: "notes of old imports deleted"
        }
    }
}

/// What a piece of work came to.
struct FeedbackRound: Sendable, Equatable {
    /// How many things were done.
    var count: Int64
    /// There may be more to do at once.
    var isMore: Bool

    static let idle = FeedbackRound(count: 0, isMore: false)
}
