/// What one simulated gateway has seen since its start or the last reset of its records.
public struct GatewayCounters: Sendable, Codable, Equatable {
    /// Pushes that were accepted, each time that one was.
    public var accepted = 0
    /// Pushes that were rejected, by the reason in the answer.
    public var rejected: [String: Int] = [:]
    /// Pushes that the gateway took and never answered, on purpose.
    public var unanswered = 0
    /// Streams that were refused (REFUSED_STREAM) or disowned by a GOAWAY; such a push is not recorded.
    public var refused = 0
    /// Different message ids that were accepted at least once.
    public var uniqueAccepted = 0
    /// Message ids that were accepted more than once.
    public var duplicates = 0
    /// Connections that are open now.
    public var connections = 0
    public var connectionsOpened = 0
    /// The most streams that one connection had open at once.
    public var highestConcurrentStreams = 0
    /// GOAWAY frames that were sent.
    public var goAways = 0
    /// Connections that the gateway dropped on purpose.
    public var resets = 0
    /// Requests to legacy FCM, where one may carry many messages; 0 for the other gateways.
    public var requests = 0
    /// Requests that are open right now and wait for their answer.
    public var waiting = 0
    /// Requests that waited for their answer when the gateway dropped their connection.
    public var cutOff = 0
    /// SETTINGS frames that announced another stream limit to an open connection.
    public var limitChanges = 0
    /// For each connection whose sender broke off while requests waited on it, in order and at most the first 10,000: the requests
    /// that were open at the gateway at that moment, those of the connection included.
    public var breaks: [Int] = []
    /// Faults of any kind that came while at least 100 requests were open: refused, disowned, unanswered or wrongly rejected
    /// pushes (a revoked key's and a mix-up's among them), GOAWAYs, resets, changes of the limit.
    public var faultsUnderLoad = 0
    /// The fewest requests that were open at one of the faults in `faultsUnderLoad`; nil when there was none.
    public var leastWaitingAtFault: Int?
    /// What came during the outage that lasts, or during the last one; nil when there was none.
    public var outage: OutageCount?

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

    /// Counters that stand at zero.
    public init() {}

    /// Counts faults that came while so many requests were open.
    mutating func countFaults(_ number: Int, waiting: Int) {
        guard number > 0 else { return }
        faultsUnderLoad += number
        leastWaitingAtFault = min(leastWaitingAtFault ?? waiting, waiting)
    }

    /// Pushes that were rejected for whatever reason.
    public var rejectedTotal: Int { rejected.values.reduce(0, +) }
}

/// The counters of all gateways at one moment.
public struct SimulatorCounters: Sendable, Codable, Equatable {
    /// The counters of the APNs gateway.
    public var apns: GatewayCounters
    /// The counters of the FCM gateway.
    public var fcm: GatewayCounters
    /// The counters of the legacy FCM gateway.
    public var fcmLegacy: GatewayCounters
    /// The counters of the binary APNs gateway.
    public var apnsBinary: GatewayCounters

    enum CodingKeys: String, CodingKey {
        case apns, fcm
        case fcmLegacy = "fcm-legacy"
        case apnsBinary = "apns-binary"
    }

    /// The counters of one gateway.
    public subscript(gateway: SimulatedGateway) -> GatewayCounters {
        switch gateway {
        case .apns: apns
        case .fcm: fcm
        case .fcmLegacy: fcmLegacy
        case .apnsBinary: apnsBinary
        }
    }
}

/// What came to a gateway while it was out, by the second: of the outage that lasts, or of the last one.
public struct OutageCount: Sendable, Codable, Equatable {
    /// Requests, in each second since the outage began.
    public var requests: [Int] = []
    /// Connections that were accepted, whatever became of them. Where the port is closed there are none.
    public var dials: [Int] = []
    /// Requests to the endpoint of access tokens.
    public var tokenRequests: [Int] = []

    enum CodingKeys: String, CodingKey {
        case requests, dials
        case tokenRequests = "token_requests"
    }

    public init() {}
}

/// Counts what comes while a gateway is out.
struct OutageMeter: Sendable {
    /// Longer outages are counted to this second: a day.
    private static let mostSeconds = 86_400

    private(set) var count = OutageCount()
    private let start = ContinuousClock.now
    /// Whether the outage still lasts.
    var isRunning = true

    /// Counts in the second that runs.
    mutating func add(_ number: Int, to counts: WritableKeyPath<OutageCount, [Int]>) {
        let second = Int((ContinuousClock.now - start) / .seconds(1))
        guard isRunning, number > 0, second < Self.mostSeconds else { return }
        while count[keyPath: counts].count <= second { count[keyPath: counts].append(0) }
        count[keyPath: counts][second] += number
    }
}
