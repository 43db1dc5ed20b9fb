import ProcessEvents
import Store
import Synchronization
import TrackingSpools

/// What the worker has done since its last heartbeat, and whether it acts.
final class FeedbackProgress: Sendable {
    struct Values: Sendable {
        var isActing = false
        var lastAction = ""
        var counts: [FeedbackDuty: Int64] = [:]
        /// Hits loaded from spools.
        var loaded: Int64 = 0
        var backlog = SpoolBacklog()
        /// What was done since the start, for metrics.
        var totals: [FeedbackDuty: Int64] = [:]
        var totalLoaded: Int64 = 0
    }

    private let values = Mutex(Values())
    /// The heartbeats that reach the database.
    let pulse = DatabasePulse()

    var isActing: Bool { values.withLock(\.isActing) }

    var current: Values { values.withLock { $0 } }

    /// Takes whether the worker acts; returns whether that is new.
    func setActing(_ value: Bool) -> Bool {
        values.withLock { values in
            defer { values.isActing = value }
            return values.isActing != value
        }
    }

    func add(_ duty: FeedbackDuty, _ count: Int64) {
        guard count > 0 else { return }
        values.withLock { values in
            values.counts[duty, default: 0] &+= count
            values.totals[duty, default: 0] &+= count
            values.lastAction = "\(duty.words): \(count)"
        }
    }

    /// Takes how many hits were loaded from spools, and what waits in those of this host.
    func add(loaded count: Int, _ backlog: SpoolBacklog) {
        values.withLock { values in
            values.backlog = backlog
            guard count > 0 else { return }
            values.loaded &+= Int64(count)
            values.totalLoaded &+= Int64(count)
            values.lastAction = "hits loaded from spools: \(count)"
        }
    }

    /// Puts into a heartbeat what was done since the last one, and forgets it.
    func move(into heartbeat: inout FeedbackHeartbeat) {
        values.withLock { values in
            heartbeat.lastAction = values.lastAction
            heartbeat.tokenEvents = values.counts[.tokenEvents] ?? 0
            heartbeat.messagesCounted = (values.counts[.outcomes] ?? 0) &+ (values.counts[.lateOutcomes] ?? 0)
            heartbeat.hitsCounted = values.counts[.hits] ?? 0
            heartbeat.hitsLoaded = values.loaded
            heartbeat.waitingSpools = Int32(clamping: values.backlog.files)
            heartbeat.waitingSpoolBytes = values.backlog.bytes
            values.loaded = 0
            values.lastAction = ""
            values.counts = [:]
        }
    }

    /// Takes back what was to be said of spools.
    func restore(spoolsOf heartbeat: FeedbackHeartbeat) {
        values.withLock { $0.loaded &+= heartbeat.hitsLoaded }
    }

    /// Takes back what a heartbeat that failed was to say.
    func restore(_ heartbeat: FeedbackHeartbeat) {
        restore(spoolsOf: heartbeat)
        values.withLock { values in
            values.counts[.tokenEvents, default: 0] &+= heartbeat.tokenEvents
            values.counts[.outcomes, default: 0] &+= heartbeat.messagesCounted
            values.counts[.hits, default: 0] &+= heartbeat.hitsCounted
            if values.lastAction.isEmpty { values.lastAction = heartbeat.lastAction }
        }
    }
}
