import Store
import Synchronization

/// What the worker has done since its last beat, and whether it acts.
final class FeedbackProgress: Sendable {
    struct Values: Sendable {
        var isActing = false
        var lastAction = ""
        var counts: [FeedbackDuty: Int64] = [:]
    }

    private let values = Mutex(Values())

    var isActing: Bool { values.withLock(\.isActing) }

    /// Takes whether the worker acts; returns whether that is new.
    func setActing(_ value: Bool) -> Bool {
        values.withLock { values in
            defer { values.isActing = value }
            return values.isActing != value
        }
    }

    /// Takes what was done.
    func add(_ duty: FeedbackDuty, _ count: Int64) {
        guard count > 0 else { return }
        values.withLock { values in
            values.counts[duty, default: 0] &+= count
            values.lastAction = "\(duty.words): \(count)"
        }
    }

    /// Puts into a beat what was done since the last one, and forgets it.
    func move(into beat: inout FeedbackBeat) {
        values.withLock { values in
            beat.lastAction = values.lastAction
            beat.tokenEvents = values.counts[.tokenEvents] ?? 0
            beat.messagesCounted = (values.counts[.outcomes] ?? 0) &+ (values.counts[.lateOutcomes] ?? 0)
            beat.hitsCounted = values.counts[.hits] ?? 0
            values.lastAction = ""
            values.counts = [:]
        }
    }

    /// Takes back what a beat that failed was to say.
    func restore(_ beat: FeedbackBeat) {
        values.withLock { values in
            values.counts[.tokenEvents, default: 0] &+= beat.tokenEvents
            values.counts[.outcomes, default: 0] &+= beat.messagesCounted
            values.counts[.hits, default: 0] &+= beat.hitsCounted
            if values.lastAction.isEmpty { values.lastAction = beat.lastAction }
        }
    }
}
