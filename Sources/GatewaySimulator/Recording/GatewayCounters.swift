/// One simulated gateway's counters since its start or the last reset.
package struct GatewayCounters: Sendable, Codable, Equatable {
    /// Accepted pushes; a message accepted twice counts twice.
    package var accepted = 0
    /// Rejected pushes, by the reason in the answer.
    package var rejected: [String: Int] = [:]
    /// Pushes that the gateway received and deliberately never answered.
    package var unanswered = 0
    /// Streams that were refused (REFUSED_STREAM) or left unprocessed by a GOAWAY; their pushes are not recorded.
    package var refused = 0
    /// Distinct message ids accepted at least once.
    package var uniqueAccepted = 0
    /// Message ids accepted more than once.
    package var duplicates = 0
    /// Connections that are currently open.
    package var connections = 0
    package var connectionsOpened = 0
    /// The maximum number of concurrent streams on one connection.
    package var highestConcurrentStreams = 0
    /// GOAWAY frames sent.
    package var goAways = 0
    /// Connections that the gateway deliberately dropped.
    package var resets = 0
    /// Requests to legacy FCM, each of which may carry many messages; 0 for the other gateways.
    package var requests = 0
    /// Requests that are currently waiting for their answer.
    package var waiting = 0
    /// Requests that waited for their answer when the gateway dropped their connection.
    package var cutOff = 0
    /// SETTINGS frames that announced another stream limit to an open connection.
    package var limitChanges = 0
    /// For each connection that its sender closed while requests waited on it: all requests open at the gateway at that
    /// moment, including the connection's. They are in order, at most the first 10,000.
    package var breaks: [Int] = []
    /// Faults of any kind that landed while at least 100 requests were open. These are refused, unprocessed, unanswered
    /// or wrongly rejected pushes (including those of a revoked key or an environment mix-up), GOAWAYs, resets, and
    /// limit changes.
    package var faultsUnderLoad = 0
    /// The minimum number of open requests at one of the faults in `faultsUnderLoad`; nil without any.
    package var leastWaitingAtFault: Int?
    /// What arrived during the current or the last outage; nil without any.
    package var outage: OutageCount?

    enum CodingKeys: String, CodingKey {
        case accepted, rejected, unanswered, refused, duplicates, connections, resets, waiting, breaks, requests, outage
        case uniqueAccepted = "unique_accepted"
        case connectionsOpened = "connections_opened"
        case highestConcurrentStreams = "highest_concurrent_streams"
        case goAways = "goaways"
        case cutOff = "cut_off"
        case limitChanges = "limit_changes"
        case faultsUnderLoad = "faults_under_load"
        case leastWaitingAtFault = "least_waiting_at_fault"
    }

    /// Counters at zero.
    package init() {}

    /// Counts faults that landed while this many requests were open.
    mutating func countFaults(_ number: Int, waiting: Int) {
        guard number > 0 else { return }
        faultsUnderLoad += number
        leastWaitingAtFault = min(leastWaitingAtFault ?? waiting, waiting)
    }

    /// All rejected pushes.
    package var rejectedTotal: Int { rejected.values.reduce(0, +) }
}

/// What arrived at a gateway in each second of the current or the last outage.
package struct OutageCount: Sendable, Codable, Equatable {
    /// Requests in each second since the outage began.
    package var requests: [Int] = []
    /// Accepted connections, even if they failed later. There are none while the port is closed.
    package var dials: [Int] = []
    /// Requests to the token endpoint.
    package var tokenRequests: [Int] = []

    enum CodingKeys: String, CodingKey {
        case requests, dials
        case tokenRequests = "token_requests"
    }

    package init() {}
}

/// Counts arrivals during an outage.
struct OutageMeter: Sendable {
    /// The maximum number of seconds that are counted: a day.
    private static let maxSeconds = 86_400

    private(set) var count = OutageCount()
    private let start = ContinuousClock.now
    /// Whether the outage is still active.
    var isRunning = true

    /// Adds to the count of the current second.
    mutating func add(_ number: Int, to counts: WritableKeyPath<OutageCount, [Int]>) {
        let second = Int((ContinuousClock.now - start) / .seconds(1))
        guard isRunning, number > 0, second < Self.maxSeconds else { return }
        while count[keyPath: counts].count <= second { count[keyPath: counts].append(0) }
        count[keyPath: counts][second] += number
    }
}
