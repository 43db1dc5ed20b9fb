import Store
import Synchronization
import TrackingSpools

/// What the worker has done since its last beat, and whether it acts.
final class FeedbackProgress: Sendable {
    struct Values: Sendable {
        var isActing = false
        var lastAction = ""
        var counts: [FeedbackDuty: Int64] = [:]
        /// Hits loaded from spools.
        var loaded: Int64 = 0
        var backlog = SpoolBacklog()
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

    /// Takes how many hits were loaded from spools, and what waits in those of this host.
    func add(loaded count: Int, _ backlog: SpoolBacklog) {
        values.withLock { values in
            values.backlog = backlog
            guard count > 0 else { return }
            values.loaded &+= Int64(count)
            values.lastAction = "hits loaded from spools: \(count)"
        }
    }

    /// Puts into a beat what was done since the last one, and forgets it.
    func move(into beat: inout FeedbackBeat) {
        values.withLock { values in
            beat.lastAction = values.lastAction
            beat.tokenEvents = values.counts[.tokenEvents] ?? 0
            beat.messagesCounted = (values.counts[.outcomes] ?? 0) &+ (values.counts[.lateOutcomes] ?? 0)
            beat.hitsCounted = values.counts[.hits] ?? 0
            beat.hitsLoaded = values.loaded
            beat.waitingSpools = Int32(clamping: values.backlog.files)
            beat.waitingSpoolBytes = values.backlog.bytes
            values.loaded = 0
            values.lastAction = ""
            values.counts = [:]
        }
    }

    /// Takes back what was to be said of spools.
    func restore(spoolsOf beat: FeedbackBeat) {
        values.withLock { $0.loaded &+= beat.hitsLoaded }
    }

    /// Takes back what a beat that failed was to say.
    func restore(_ beat: FeedbackBeat) {
        restore(spoolsOf: beat)
        values.withLock { values in
            values.counts[.tokenEvents, default: 0] &+= beat.tokenEvents
            values.counts[.outcomes, default: 0] &+= beat.messagesCounted
            values.counts[.hits, default: 0] &+= beat.hitsCounted
            if values.lastAction.isEmpty { values.lastAction = beat.lastAction }
        }
    }
}
