/// What the simulated gateways have counted: by message id, so that lost and duplicate messages can be told.
struct SimulatorCount: Sendable, Decodable {
    /// One gateway's counts.
    struct Gateway: Sendable, Decodable {
        /// Pushes that were accepted, each time that one was.
        let accepted: Int64
        /// Different messages that were accepted at least once.
        let uniqueAccepted: Int64
        /// Messages that were accepted more than once.
        let duplicates: Int64
        /// Requests to legacy FCM, where one may carry many messages.
        var requests: Int64? = nil
        /// Requests that are open right now and wait for their answer.
        let waiting: Int64
        /// Connections that are open now.
        let connections: Int64
        /// Faults of any kind that came while at least 100 requests were open.
        let faultsUnderLoad: Int64
        /// The fewest requests that were open at one of those; `nil` without any.
        let leastWaitingAtFault: Int64?

        enum CodingKeys: String, CodingKey {
            case uniqueAccepted = "unique_accepted"
            case faultsUnderLoad = "faults_under_load"
            case leastWaitingAtFault = "least_waiting_at_fault"
            case accepted, duplicates, waiting, connections, requests
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

    /// Different messages that any gateway accepted.
    var accepted: Int64 { all.reduce(0) { $0 + $1.uniqueAccepted } }
    /// Messages that a gateway accepted more than once.
    var duplicates: Int64 { all.reduce(0) { $0 + $1.duplicates } }
    /// Pushes that any gateway accepted, each time.
    var acceptedTimes: Int64 { all.reduce(0) { $0 + $1.accepted } }
    /// Requests that are open at any gateway.
    var waiting: Int64 { all.reduce(0) { $0 + $1.waiting } }
    /// Faults under load at any gateway.
    var faultsUnderLoad: Int64 { all.reduce(0) { $0 + $1.faultsUnderLoad } }
}
