import ProcessEvents
import Store
import Synchronization
import TrackingSpools

/// What the worker has done since its last heartbeat, and whether it is the active one.
final class FeedbackProgress: Sendable {
    struct Values: Sendable {
        var isActing = false
        var lastAction = ""
        var counts: [FeedbackDuty: Int64] = [:]
        /// Hits loaded from spools.
        var loaded: Int64 = 0
        var backlog = SpoolBacklog()
        /// What it has done since the start, for metrics.
        var totals: [FeedbackDuty: Int64] = [:]
        var totalLoaded: Int64 = 0
    }

    private let values = Mutex(Values())
    /// Records whether heartbeats reach the database.
    let pulse = DatabasePulse()

    var isActing: Bool { values.withLock(\.isActing) }

    var current: Values { values.withLock { $0 } }

    /// Sets whether the worker acts; returns whether that has changed.
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

    /// Adds hits loaded from spools, and sets what waits in the spools of this host.
    func add(loaded count: Int, _ backlog: SpoolBacklog) {
        values.withLock { values in
            values.backlog = backlog
            guard count > 0 else { return }
            values.loaded &+= Int64(count)
            values.totalLoaded &+= Int64(count)
            values.lastAction = "hits loaded from spools: \(count)"
        }
    }

    /// Moves what was done since the last heartbeat into a heartbeat.
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

    /// Takes back the figures of spools after a failed report.
    func restore(spoolsOf heartbeat: FeedbackHeartbeat) {
        values.withLock { $0.loaded &+= heartbeat.hitsLoaded }
    }

    /// Takes back the figures of a failed heartbeat.
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
