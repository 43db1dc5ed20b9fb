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
            case accepted, duplicates, waiting, connections
        }
    }

    let apns: Gateway
    let fcm: Gateway

    /// Different messages that either gateway accepted.
    var accepted: Int64 { apns.uniqueAccepted + fcm.uniqueAccepted }
    /// Messages that a gateway accepted more than once.
    var duplicates: Int64 { apns.duplicates + fcm.duplicates }
    /// Pushes that either gateway accepted, each time.
    var acceptedTimes: Int64 { apns.accepted + fcm.accepted }
    /// Requests that are open at either gateway.
    var waiting: Int64 { apns.waiting + fcm.waiting }
    /// Faults under load at either gateway.
    var faultsUnderLoad: Int64 { apns.faultsUnderLoad + fcm.faultsUnderLoad }
}
