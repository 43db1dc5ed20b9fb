/// A message to add to a continuous delivery.
public struct NewMessage: Sendable {
    /// The continuous delivery.
    public var deliveryID: Int64
    /// Whom it goes to.
    public var address: MessageAddress
    /// The values of its fields, a JSON object.
    public var variables: String
    /// A name for this message that the caller chooses: sent again with it within 24 hours, it is the same message.
    public var idempotencyKey: String?

    /// A message.
    public init(
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
