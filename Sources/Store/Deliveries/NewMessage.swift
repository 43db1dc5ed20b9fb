/// A message to add to a continuous delivery.
package struct NewMessage: Sendable {
    package var deliveryID: Int64
    package var address: MessageAddress
    /// The values of its fields, a JSON object.
    package var variables: String
    /// The caller's name for this message: if it is sent again under this name within 24 hours, it is the same message.
    package var idempotencyKey: String?

    package init(
        deliveryID: Int64,
        address: MessageAddress,
        variables: String = "{}",
        idempotencyKey: String? = nil
    ) {
        self.deliveryID = deliveryID
        self.address = address
        self.variables = variables
        self.idempotencyKey = idempotencyKey
    }
}

/// The addressee of a message.
package enum MessageAddress: Sendable, Hashable {
    /// One subscription, by its id.
    case subscription(Int64)
    /// All subscriptions of a user in the delivery's applications, or the last registered one if the delivery says so.
    case userKey(String)
    /// The subscription that now has this push token.
    case pushToken(String)
}
