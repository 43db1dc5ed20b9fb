/// The simulated gateways' counters. They count by message id, so that lost and duplicate messages can be found.
struct SimulatorCount: Sendable, Decodable {
    struct Gateway: Sendable, Decodable {
        /// Accepted pushes; a message accepted twice counts twice.
        let accepted: Int64
        /// Rejected pushes, by the reason in the answer.
        let rejected: [String: Int64]
        /// Distinct messages accepted at least once.
        let uniqueAccepted: Int64
        /// Messages accepted more than once.
        let duplicates: Int64
        /// Requests to legacy FCM, each of which may carry many messages.
        var requests: Int64? = nil
        /// Requests that are currently waiting for their answer.
        let waiting: Int64
        /// Connections that are currently open.
        let connections: Int64
        /// Faults of any kind that landed while at least 100 requests were open.
        let faultsUnderLoad: Int64
        /// The minimum number of open requests at one of those; `nil` without any.
        let leastWaitingAtFault: Int64?

        enum CodingKeys: String, CodingKey {
            case uniqueAccepted = "unique_accepted"
            case faultsUnderLoad = "faults_under_load"
            case leastWaitingAtFault = "least_waiting_at_fault"
            case accepted, rejected, duplicates, waiting, connections, requests
        }
    }

    let apns: Gateway
    let fcm: Gateway
    let fcmLegacy: Gateway
    let apnsBinary: Gateway

    enum CodingKeys: String, CodingKey {
        case apns, fcm
        case fcmLegacy = "fcm-legacy"
        case apnsBinary = "apns-binary"
    }

    private var all: [Gateway] { [apns, fcm, fcmLegacy, apnsBinary] }

    /// Distinct messages that any gateway accepted.
    var accepted: Int64 { all.reduce(0) { $0 + $1.uniqueAccepted } }
    /// Messages that a gateway accepted more than once.
    var duplicates: Int64 { all.reduce(0) { $0 + $1.duplicates } }
    /// Accepted pushes at all gateways; a message accepted twice counts twice.
    var acceptedTimes: Int64 { all.reduce(0) { $0 + $1.accepted } }
    /// Rejected pushes at all gateways.
    var rejected: Int64 { all.reduce(0) { $0 + $1.rejected.values.reduce(0, +) } }
    /// Open requests at all gateways.
    var waiting: Int64 { all.reduce(0) { $0 + $1.waiting } }
    /// Open connections to the gateway with the most: a child sends to one gateway.
    var maxConnections: Int64 { all.reduce(0) { max($0, $1.connections) } }
    /// Faults under load at all gateways.
    var faultsUnderLoad: Int64 { all.reduce(0) { $0 + $1.faultsUnderLoad } }
}
