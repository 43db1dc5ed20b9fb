import HTTPTypes
import HummingbirdCore
import ProcessEvents
import PushCore
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
    /// The writes that find out whether the database takes any.
    let pulse = DatabasePulse(startsUp: true)

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
        let takesWrites = isConnected && pulse.isUp()
        if !takesWrites && !forTracking {
            let trouble = isConnected ? "the database takes no writes" : "the database is away"
            reasons.append("\(trouble): registrations are refused")
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

/// What `/health/ready` says.
struct WebHealthReport: Sendable {
    /// Why no requests should come; empty if they should.
    let reasons: [String]
    let isDatabaseConnected: Bool
    /// Applications whose devices cannot be registered. The page is open to everybody, so the log alone names them; and others go on,
    /// so this is no reason against requests.
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

/// `GET /health/live` and `GET /health/ready`.
struct HealthEndpoint: Sendable {
    let health: WebHealth

    /// The process runs and answers; nothing else is asked, since ending it would fix nothing else.
    func live(_ request: Request) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        return .healthy
    }

    /// Whether requests should come here: 200, or 503 with the reasons.
    ///
    /// `?for=tracking` leaves out what concerns registrations only: hits are taken while the database is away.
    func ready(_ request: Request, _ target: WebTarget) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        let isForTracking = target.query.split(separator: "&").contains("for=tracking")
        let report = health.report(forTracking: isForTracking)
        var answer = WebAnswer(report.reasons.isEmpty ? .ok : .serviceUnavailable, report.json)
        answer.contentType = "application/json"
        return answer
    }
}
