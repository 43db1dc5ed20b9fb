import PushCore

/// One message and what became of it, as `pushmta.message_status` has it.
public struct MessageRow: Sendable {
    /// Its id.
    public let id: String
    /// Its delivery; of a continuous one, the delivery of its day.
    public let deliveryID: Int64
    /// Its number there.
    public let sequence: Int32
    /// The subscription that it goes to.
    public let subscriptionID: Int64
    /// What became of it.
    public let status: MessageStatus
    /// The gateway's words, or ours.
    public let reason: String
    /// The gateway's status, 0 if none.
    public let httpStatus: Int16
    /// The send attempt that it is in, or that decided it.
    public let attempt: Int16
    /// The gateway's name for it, if it gave one.
    public let gatewayMessageID: String?
    /// When its outcome was stored; nil while it is pending.
    public let loggedAt: DatabaseTime?
    /// Whether a device has said that it came.
    public let isReceived: Bool
    /// Whether somebody has opened it.
    public let isClicked: Bool

    /// A message.
    public init(
        id: String,
        deliveryID: Int64,
        sequence: Int32,
        subscriptionID: Int64,
        status: MessageStatus,
        reason: String,
        httpStatus: Int16,
        attempt: Int16,
        gatewayMessageID: String?,
        loggedAt: DatabaseTime?,
        isReceived: Bool,
        isClicked: Bool
    ) {
        self.id = id
        self.deliveryID = deliveryID
        self.sequence = sequence
        self.subscriptionID = subscriptionID
        self.status = status
        self.reason = reason
        self.httpStatus = httpStatus
        self.attempt = attempt
        self.gatewayMessageID = gatewayMessageID
        self.loggedAt = loggedAt
        self.isReceived = isReceived
        self.isClicked = isClicked
    }
}
