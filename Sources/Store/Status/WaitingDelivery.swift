/// A delivery that cannot be prepared now, or has messages that cannot be loaded.
public struct WaitingDelivery: Sendable, Hashable {
    /// The delivery.
    public let deliveryID: Int64
    /// What is wrong, in words without values of people.
    public let reason: String
    /// How many messages wait; nil while it is not prepared.
    public let messages: Int64?

    /// A delivery that waits.
    public init(deliveryID: Int64, reason: String, messages: Int64?) {
        self.deliveryID = deliveryID
        self.reason = reason
        self.messages = messages
    }
}
