import PostgresClient
import PushCore

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

extension Store {
    /// Finds messages by any kind of id, for a signed-in user. If there is none, returns how the id can be read and why
    /// nothing was found.
    ///
    /// - Parameter delivery: where to search a gateway's id; nil: gateway ids are not searched.
    package func findMessages(_ id: String, delivery: Int64?, by actor: ConsoleActor) async throws -> [ConsoleFinding] {
        let result = try await query(
            """
            SELECT m.form, m.finding, m.delivery_id, m.sequence, m.subscription_id, m.label, m.application, m.status, m.reason,
                m.gateway_message_id, m.logged_at, m.received, m.clicked
            FROM pushmta_engine.console_find_message(\(ConsoleActor.caller), $5, $6::bigint) m
            """,
            actor.values + [.text(id), .int64OrNull(delivery)]
        )
        return try all(result) { row in
            ConsoleFinding(
                kind: try row.textOrNil().flatMap { MessageIDKind(rawValue: $0) },
                finding: try row.text(),
                deliveryID: try row.int64OrNil(),
                sequence: try row.int32OrNil(),
                message: try row.ifPresent(9, Self.message)
            )
        }
    }

    private static func message(_ row: inout RowReader) throws -> ConsoleFinding.Message {
        let subscription = try row.int64()
        return ConsoleFinding.Message(
            label: try row.text(),
            subscriptionID: subscription,
            application: try row.text(),
            status: try row.text(),
            reason: try row.text(),
            gatewayMessageID: try row.textOrNil(),
            loggedAt: try row.timeOrNil(),
            isReceived: try row.bool(),
            isClicked: try row.bool()
        )
    }
}
