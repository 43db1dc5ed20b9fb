/// One line of a gateway's record: a push as it arrived.
struct GatewayRecordLine: Sendable, Equatable {
    /// The message's id as the gateway knows it.
    let id: String
    /// The HTTP status of the answer: 200 accepted, 0 none.
    let status: Int
    /// The gateway's reason; "" if none.
    var reason = ""
    /// Seconds since 1970.
    var time = 0.0

    /// Whether the gateway accepted the push. Legacy FCM gives a reason for rejection within a 200.
    var isAccepted: Bool { status == 200 && reason.isEmpty }
}
