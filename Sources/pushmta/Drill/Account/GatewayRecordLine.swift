/// One line of a gateway's record: a push as it arrived.
struct GatewayRecordLine: Sendable, Equatable {
    /// The message's id as the gateway knows it.
    let id: String
    /// The HTTP status of the answer: 200 accepted, 0 none.
    let status: Int
    /// The gateway's words, "" if none.
    let reason: String
    /// Seconds since 1970.
    let time: Double

    /// Whether the gateway took it; legacy FCM says within a 200 why it did not.
    var isAccepted: Bool { status == 200 && reason.isEmpty }

    /// A line.
    init(id: String, status: Int, reason: String = "", time: Double = 0) {
        self.id = id
        self.status = status
        self.reason = reason
        self.time = time
    }
}
