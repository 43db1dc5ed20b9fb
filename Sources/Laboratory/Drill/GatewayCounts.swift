/// All counters of the simulated gateways.
struct GatewayCounts: Sendable, Decodable {
    /// What arrived in each second of an outage.
    struct Outage: Sendable, Decodable {
        var requests: [Int64]
        /// New connections.
        var dials: [Int64]
        var tokenRequests: [Int64]

        enum CodingKeys: String, CodingKey {
            case requests, dials
            case tokenRequests = "token_requests"
        }
    }

    struct Gateway: Sendable, Decodable {
        /// Accepted pushes; a message accepted twice counts twice.
        var accepted: Int64
        /// Rejected pushes, by reason.
        var rejected: [String: Int64]
        /// Streams that were refused, or that a GOAWAY left unprocessed.
        var refused: Int64
        var goaways: Int64
        /// Connections that were reset.
        var resets: Int64
        /// Requests whose answer was lost to a reset.
        var cutOff: Int64
        /// Stream limit changes that were announced to open connections.
        var limitChanges: Int64
        /// Requests that currently wait for their answer.
        var waiting: Int64
        /// Connections that are currently open.
        var connections: Int64
        /// For each connection that its sender closed with requests on it: the requests then open at the gateway.
        var breaks: [Int64]
        /// Faults that landed while at least 100 requests waited.
        var faultsUnderLoad: Int64
        /// The minimum number of open requests at one of these faults; `nil` without any.
        var leastWaitingAtFault: Int64?
        /// What arrived during the last outage; `nil` without any.
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
    /// The requests that wait at both gateways.
    var waiting: Int64 { apns.waiting + fcm.waiting }
    /// The faults under load at both gateways.
    var faultsUnderLoad: Int64 { apns.faultsUnderLoad + fcm.faultsUnderLoad }
    /// The minimum number of open requests at one of these faults; 0 without any.
    var leastWaitingAtFault: Int64 { byName.compactMap(\.counts.leastWaitingAtFault).min() ?? 0 }

    /// The number of pushes rejected for this reason.
    func rejected(_ reason: String) -> Int64 {
        (apns.rejected[reason] ?? 0) + (fcm.rejected[reason] ?? 0)
    }
}
