/// What the simulated gateways have counted: by message id, so that lost and duplicate messages can be told.
struct SimulatorCount: Sendable, Decodable {
    /// One gateway's counts.
    struct Gateway: Sendable, Decodable {
        /// Different messages that were accepted at least once.
        let uniqueAccepted: Int64
        /// Messages that were accepted more than once.
        let duplicates: Int64

        enum CodingKeys: String, CodingKey {
            case uniqueAccepted = "unique_accepted"
            case duplicates
        }
    }

    let apns: Gateway
    let fcm: Gateway

    /// Different messages that either gateway accepted.
    var accepted: Int64 { apns.uniqueAccepted + fcm.uniqueAccepted }
    /// Messages that a gateway accepted more than once.
    var duplicates: Int64 { apns.duplicates + fcm.duplicates }
}
