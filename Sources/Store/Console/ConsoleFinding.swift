/// The result of a search by message id in the console.
package struct ConsoleFinding: Sendable {
    /// A message as the console lists it.
    package struct Message: Sendable {
        /// The delivery's name.
        package let label: String
        /// The subscription that it goes to.
        package let subscriptionID: Int64
        /// The application's name, "" if the subscription is gone.
        package let application: String
        /// Its status, by the database's name; `pending` if it has not ended.
        package let status: String
        /// The reason, "" if there is none.
        package let reason: String
        /// The gateway's id of the message; nil if it gave none.
        package let gatewayMessageID: String?
        /// When its outcome was stored; nil while it has none.
        package let loggedAt: DatabaseTime?
        /// Whether the device reported that it received it.
        package let isReceived: Bool
        /// Whether the user clicked on it.
        package let isClicked: Bool
    }

    /// How the id was read; nil if it does not have the form of an id.
    package let kind: MessageIDKind?
    /// The result, as a word of `pushmta.explain_message_id`; `found` if there is a message.
    package let finding: String
    /// The delivery that the id names; nil if it names none.
    package let deliveryID: Int64?
    /// The message's number in that delivery.
    package let sequence: Int32?
    /// The message; nil if there is none.
    package let message: Message?
}
