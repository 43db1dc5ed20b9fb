import Store
import Synchronization
import TrackingSpools

/// What the process knows of its own state.
final class WebHealth: Sendable {
    private struct State {
        var isDraining = false
        var schemaProblem: String?
        var unreadable: [String: String] = [:]
    }

    private let state = Mutex(State())
    private let registrationStore: Store
    private let trackingStore: Store
    private let spool: TrackingSpool
    private let counters: WebCounters

    init(registrationStore: Store, trackingStore: Store, spool: TrackingSpool, counters: WebCounters) {
        self.registrationStore = registrationStore
        self.trackingStore = trackingStore
        self.spool = spool
        self.counters = counters
    }

    /// The process was asked to end.
    func drain() { state.withLock { $0.isDraining = true } }

    /// The database's schema does not fit this program; nil: it does.
    func note(schemaProblem: String?) { state.withLock { $0.schemaProblem = schemaProblem } }

    /// Applications whose declarations cannot be read, and why; returns what of it is new.
    func note(unreadable: [String: String]) -> [String: String] {
        state.withLock { state in
            defer { state.unreadable = unreadable }
            return unreadable.filter { state.unreadable[$0.key] != $0.value }
        }
    }

    func report(forTracking: Bool) -> WebHealthReport {
        let state = state.withLock { $0 }
        var reasons: [String] = []
        if state.isDraining { reasons.append("draining") }
        if let problem = state.schemaProblem { reasons.append(problem) }
        let isConnected = registrationStore.isConnected && trackingStore.isConnected
        if !isConnected && !forTracking { reasons.append("the database is away: registrations are refused") }
        if spool.isFull { reasons.append("the tracking spool is full") }
        return WebHealthReport(
            reasons: reasons,
            isDatabaseConnected: isConnected,
            unreadableApplications: state.unreadable.count,
            spoolBytes: spool.isEmpty ? 0 : spool.bytes,
            numbers: counters.now
        )
    }
}
