import PostgresClient
import PushCore

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
