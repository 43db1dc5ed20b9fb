import ProcessEvents
import PushCore
import Store
import Synchronization
import TrackingSpools

/// The state of the process, for its health page.
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
    /// Tracks test writes, which show whether the database is writable.
    let pulse = DatabasePulse(startsUp: true)

    init(registrationStore: Store, trackingStore: Store, spool: TrackingSpool, counters: WebCounters) {
        self.registrationStore = registrationStore
        self.trackingStore = trackingStore
        self.spool = spool
        self.counters = counters
    }

    /// Notes that the process is draining.
    func drain() { state.withLock { $0.isDraining = true } }

    /// Notes why the database's schema does not match this program; nil if it does.
    func note(schemaProblem: String?) { state.withLock { $0.schemaProblem = schemaProblem } }

    /// Notes applications whose declarations cannot be read, with the reason; returns the new ones.
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
        let takesWrites = isConnected && pulse.isUp()
        if !takesWrites && !forTracking {
            let problem = isConnected ? "the database accepts no writes" : "the database is unreachable"
            reasons.append("\(problem): registrations are refused")
        }
        if spool.isFull { reasons.append("the tracking spool is full") }
        return WebHealthReport(
            reasons: reasons,
            isDatabaseConnected: takesWrites,
            unreadableApplications: state.unreadable.count,
            spoolBytes: spool.isEmpty ? 0 : spool.bytes,
            numbers: counters.now
        )
    }
}

/// The content of `/health/ready`.
struct WebHealthReport: Sendable {
    /// Why requests should go elsewhere; empty if they should come here.
    let reasons: [String]
    let isDatabaseConnected: Bool
    /// The number of applications whose devices cannot be registered. The page is public, so only the log names them.
    /// Other applications still work, so this is no reason to refuse requests.
    let unreadableApplications: Int
    let spoolBytes: Int64
    let numbers: WebCounters.Numbers

    /// One JSON object.
    var json: String {
        let list = reasons.map { JSONObjectText.quoted($0) }.joined(separator: ",")
        let dropped = numbers.dropped
        return """
            {"ready":\(reasons.isEmpty),"reasons":[\(list)],\
            "database":"\(isDatabaseConnected ? "connected" : "away")",\
            "registrations":{"created":\(numbers.created),"updated":\(numbers.updated),"disabled":\(numbers.disabled),\
            "unreadableApplications":\(unreadableApplications)},\
            "tracking":{"stored":\(numbers.hits),"spooled":\(numbers.spooled),"loaded":\(numbers.loaded),\
            "spoolBytes":\(spoolBytes),"malformed":\(dropped.malformed),"forged":\(dropped.forged),\
            "foreign":\(dropped.foreign),"expired":\(numbers.expired)},\
            "limited":\(numbers.limited)}
            """
    }
}
