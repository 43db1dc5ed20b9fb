/// Everything that the simulated gateways have counted.
struct GatewayCounts: Sendable, Decodable {
    /// What came during an outage, in each of its seconds.
    struct Outage: Sendable, Decodable {
        /// Requests.
        var requests: [Int64]
        /// Connections.
        var dials: [Int64]
        /// Requests for access tokens.
        var tokenRequests: [Int64]

        enum CodingKeys: String, CodingKey {
            case requests, dials
            case tokenRequests = "token_requests"
        }
    }

    /// One gateway's counts.
    struct Gateway: Sendable, Decodable {
        /// Pushes that were accepted, each time.
        var accepted: Int64
        /// Pushes that were rejected, by reason.
        var rejected: [String: Int64]
        /// Streams that were refused, or disowned by a GOAWAY.
        var refused: Int64
        /// GOAWAY frames.
        var goaways: Int64
        /// Connections that were reset.
        var resets: Int64
        /// Requests that lost their answer by a reset.
        var cutOff: Int64
        /// Stream limits that were announced to open connections.
        var limitChanges: Int64
        /// Requests that wait for their answer now.
        var waiting: Int64
        /// Connections that are open now.
        var connections: Int64
        /// For each connection that its sender broke off with requests on it: the requests that were open at the gateway then.
        var breaks: [Int64]
        /// Faults that came while at least 100 requests waited.
        var faultsUnderLoad: Int64
        /// The fewest requests that were open at one of these faults; `nil` without any.
        var leastWaitingAtFault: Int64?
        /// What came during the last outage; `nil` without any.
        var outage: Outage?

        enum CodingKeys: String, CodingKey {
            case accepted, rejected, refused, goaways, resets, waiting, connections, breaks, outage
            case cutOff = "cut_off"
            case limitChanges = "limit_changes"
            case faultsUnderLoad = "faults_under_load"
            case leastWaitingAtFault = "least_waiting_at_fault"
        }
    }

    var apns: Gateway
    var fcm: Gateway

    /// The counts by the gateway's name.
    var byName: [(name: String, counts: Gateway)] { [("apns", apns), ("fcm", fcm)] }
    /// Both gateways' requests that wait.
    var waiting: Int64 { apns.waiting + fcm.waiting }
    /// Both gateways' faults under load.
    var faultsUnderLoad: Int64 { apns.faultsUnderLoad + fcm.faultsUnderLoad }
    /// The fewest requests that were open at one of these faults, 0 without any.
    var leastWaitingAtFault: Int64 { byName.compactMap(\.counts.leastWaitingAtFault).min() ?? 0 }

    /// How often a reason was given.
    func rejected(_ reason: String) -> Int64 {
        (apns.rejected[reason] ?? 0) + (fcm.rejected[reason] ?? 0)
    }
}
