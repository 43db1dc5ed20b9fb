/// A message that was added to a continuous delivery.
public struct MessageReference: Sendable, Hashable {
    /// Its id, as `pushmta.message_status` shows it.
    public let id: String
    /// The delivery of its day.
    public let deliveryID: Int64
    /// Its number there.
    public let sequence: Int32
    /// The subscription that it goes to.
    public let subscriptionID: Int64
    /// Whether its idempotency key was known: then nothing was sent this time.
    public let isRepeated: Bool

    /// A message.
    public init(id: String, deliveryID: Int64, sequence: Int32, subscriptionID: Int64, isRepeated: Bool) {
        self.id = id
        self.deliveryID = deliveryID
        self.sequence = sequence
        self.subscriptionID = subscriptionID
        self.isRepeated = isRepeated
    }
}
