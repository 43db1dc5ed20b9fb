import PostgresClient
import PushCore

/// What an id of a message led somebody in the console to.
public struct ConsoleFinding: Sendable {
    /// A message as the console lists it.
    public struct Message: Sendable {
        /// The delivery's name.
        public let label: String
        /// To which subscription it goes.
        public let subscriptionID: Int64
        /// The application's name, "" if the subscription is gone.
        public let application: String
        /// How it ended, by the name that the database has for it; `pending` if it has not.
        public let status: String
        /// The reason, "" if there is none.
        public let reason: String
        /// What the gateway calls it; nil if it has no name for it.
        public let gatewayMessageID: String?
        /// When its outcome was stored; nil as long as it has none.
        public let loggedAt: DatabaseTime?
        /// Whether the device has received it, as far as it said so.
        public let isReceived: Bool
        /// Whether somebody has clicked on it.
        public let isClicked: Bool
    }

    /// What the id was taken for; nil for what has the form of no id.
    public let kind: MessageIDKind?
    /// What was found, in a word of `pushmta.explain_message_id`; `found` if there is a message.
    public let finding: String
    /// The delivery that the id names; nil if it names none.
    public let deliveryID: Int64?
    /// The message's number in that delivery.
    public let sequence: Int32?
    /// The message; nil if there is none.
    public let message: Message?
}

extension Store {
    /// The messages of an id of any kind for somebody who has signed in; if there is none, what the id can be and why nothing was found.
    ///
    /// - Parameter delivery: where a gateway's id is looked for; nil: such an id is not looked for.
    public func findMessages(_ id: String, delivery: Int64?, by actor: ConsoleActor) async throws -> [ConsoleFinding] {
        let result = try await query(
            """
            SELECT m.form, m.finding, m.delivery_id, m.sequence, m.subscription_id, m.label, m.application, m.status, m.reason,
                m.gateway_message_id, m.logged_at, m.received, m.clicked
            FROM pushmta_engine.console_find_message($1, \(Self.momentAndIdle), $4, $5::bigint) m
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
