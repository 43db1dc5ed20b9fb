/// A message to add to a continuous delivery.
package struct NewMessage: Sendable {
    package var deliveryID: Int64
    package var address: Addressee
    /// The values of its fields, a JSON object.
    package var variables: String
    /// The caller's name for this message: if it is sent again under this name within 24 hours, it is the same message.
    package var idempotencyKey: String?

    package init(
        deliveryID: Int64,
        address: Addressee,
        variables: String = "{}",
        idempotencyKey: String? = nil
    ) {
        self.deliveryID = deliveryID
        self.address = address
        self.variables = variables
        self.idempotencyKey = idempotencyKey
    }
}
