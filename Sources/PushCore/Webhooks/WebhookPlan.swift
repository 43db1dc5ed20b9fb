/// What a receiver said to a batch of events.
package enum WebhookAnswer: Sendable, Hashable {
    /// - Parameter retryAfter: the time for which it wants nothing, if it says so.
    case status(Int, retryAfter: Duration?)
    /// There was no answer, with the reason.
    case failure(String)
}

/// What becomes of a batch.
package enum WebhookDecision: Sendable, Hashable {
    case accepted
    /// It is posted again after a pause.
    case again(Duration)
    /// It is posted no more, and becomes a dead letter.
    case dead
    /// The receiver wants nothing any more.
    case gone
}

/// The life of one webhook: it takes a batch, posts it, records what became of it, and takes the next one.
///
/// A pure value: its owner performs the actions and passes on their results.
package struct WebhookPlan: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package enum State: Sendable, Hashable {
        /// Nothing is under way until this moment.
        case resting(until: Instant)
        case taking
        /// The receiver has the batch.
        case posting(attempts: Int)
        case recording
        case ended
    }

    package enum Event: Sendable, Hashable {
        /// Time has passed.
        case tick
        /// A batch was taken that was posted this often before.
        case taken(attempts: Int)
        /// The batch on its way waits for its next attempt.
        case waits(Duration)
        /// There are no events.
        case empty
        /// There is nothing to post in the batch any more.
        case void
        /// The webhook was removed or disabled.
        case inactive
        case answered(WebhookAnswer)
        case recorded
        /// The database failed; what was under way is done again.
        case failed
    }

    package enum Action: Sendable, Hashable {
        case take
        case post
        case record(WebhookDecision, status: Int, words: String)
        case rest(until: Instant)
        case end
    }

    /// A batch that was refused this often becomes a dead letter: about a day after the first attempt.
    package static let maxAttempts = 16
    /// How often it looks for events when there are none.
    static let interval = Duration.seconds(1)
    /// The longest pause, also if the receiver wants a longer one.
    static let maxPause = Duration.seconds(21_600)

    package private(set) var state: State
    private let pauses = BackOff(initial: .seconds(10), maximum: Self.maxPause, floor: .seconds(5))
    private var outage: BackOff

    /// - Parameter longestOutagePause: the longest pause while the database fails.
    package init(longestOutagePause: Duration, at now: Instant) {
        state = .resting(until: now)
        outage = .database(longest: longestOutagePause)
    }

    package mutating func handle(
        _ event: Event,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        switch (state, event) {
        case (.ended, _): return []
        case (_, .inactive):
            state = .ended
            return [.end]
        case (_, .failed): return rest(outage.next(using: &generator), at: now)
        case (.resting(let until), .tick):
            guard until <= now else { return [.rest(until: until)] }
            state = .taking
            return [.take]
        case (.taking, .taken(let attempts)):
            outage.reset()
            state = .posting(attempts: attempts)
            return [.post]
        case (.taking, .empty):
            outage.reset()
            return rest(Self.interval, at: now)
        case (.taking, .waits(let pause)):
            outage.reset()
            // An operator may enable it, or send a dead letter again, meanwhile.
            return rest(min(pause, .seconds(5)), at: now)
        case (.taking, .void):
            state = .recording
            return [.record(.accepted, status: 0, words: "")]
        case (.posting(let attempts), .answered(let answer)):
            state = .recording
            return [record(answer, attempts, using: &generator)]
        case (.recording, .recorded):
            state = .taking
            return [.take]
        default:
            // A late result of something that was given up.
            return []
        }
    }

    private mutating func rest(_ pause: Duration, at now: Instant) -> [Action] {
        state = .resting(until: now + pause)
        return [.rest(until: now + pause)]
    }

    private func record(
        _ answer: WebhookAnswer,
        _ attempts: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Action {
        let isLast = attempts + 1 >= Self.maxAttempts
        let pause = pauses.pause(afterFailures: attempts, using: &generator)
        switch answer {
        case .status(200..<300, _): return .record(.accepted, status: 0, words: "")
        case .status(410, _):
            return .record(.gone, status: 410, words: "the receiver answered 410, so it wants no more")
        case .status(let status, let retryAfter):
            let wanted = min(max(pause, retryAfter ?? .zero), Self.maxPause)
            return .record(isLast ? .dead : .again(wanted), status: status, words: "the receiver answered \(status)")
        case .failure(let words): return .record(isLast ? .dead : .again(pause), status: 0, words: words)
        }
    }
}
