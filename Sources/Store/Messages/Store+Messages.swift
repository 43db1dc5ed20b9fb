import PostgresClient
import PushCore

extension Store {
    /// Adds a message to a continuous delivery in progress, and returns it: one for each subscription that it goes to.
    ///
    /// Safe to repeat with an idempotency key.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` or `invalid`, with the SQLSTATE of `pushmta.send_message`.
    public func sendMessage(_ message: NewMessage) async throws -> [MessageReference] {
        var address: [PostgresValue] = [.null, .null, .null]
        switch message.address {
        case .subscription(let id): address[0] = .int64(id)
        case .userKey(let key): address[1] = .text(key)
        case .pushToken(let token): address[2] = .text(token)
        }
        let result = try await query(
            """
            SELECT m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.repeated
            FROM pushmta.send_message($1, $2::bigint, $3::text, $4::text, $5::text::jsonb, $6::text) m
            """,
            [.int64(message.deliveryID)] + address + [.text(message.variables), .textOrNull(message.idempotencyKey)]
        )
        return try all(result) { rows, row in
            MessageReference(
                id: try rows.text(row, 0),
                deliveryID: try rows.int64(row, 1),
                sequence: try rows.int32(row, 2),
                subscriptionID: try rows.int64(row, 3),
                isRepeated: try rows.bool(row, 4)
            )
        }
    }

    /// One message by its id, whatever its delivery; nil if there is none, or its day is no longer kept.
    public func message(_ id: String) async throws -> MessageRow? {
        let result = try await query(
            """
            SELECT m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.status, m.reason, m.http_status, m.attempt,
                m.gateway_message_id, m.logged_at, m.received, m.clicked
            FROM pushmta.find_message($1) m
            """,
            [.text(id)]
        )
        guard result.rowCount > 0 else { return nil }
        let word = try result.text(0, 4)
        guard let status = MessageStatus(name: word) else {
            throw StoreError(.unexpectedAnswer, "A message has the status \(word), which this program does not know.")
        }
        return MessageRow(
            id: try result.text(0, 0),
            deliveryID: try result.int64(0, 1),
            sequence: try result.int32(0, 2),
            subscriptionID: try result.int64(0, 3),
            status: status,
            reason: try result.text(0, 5),
            httpStatus: try result.int16(0, 6),
            attempt: try result.int16(0, 7),
            gatewayMessageID: try result.textOrNil(0, 8),
            loggedAt: try result.timeOrNil(0, 9),
            isReceived: try result.bool(0, 10),
            isClicked: try result.bool(0, 11)
        )
    }

    /// Parts of continuous deliveries that are ready to be sent now, the first hundred; next to nothing to look for.
    public func readyMessageParts() async throws -> Set<ReadyMessagePart> {
        let result = try await query(Self.readyMessagePartsSQL)
        return Set(
            try all(result) { rows, row in
                ReadyMessagePart(
                    id: try rows.int64(row, 0),
                    applicationID: try rows.int32(row, 1),
                    accountID: try rows.int32(row, 2)
                )
            }
        )
    }

    /// Condition and order leave the index of these parts as the only way, whatever the planner believes of a table that was empty a
    /// moment ago.
    static let readyMessagePartsSQL = """
        SELECT p.id, p.application_id, p.external_account_id FROM pushmta_engine.delivery_part p
        WHERE p.state = 'ready' AND p.valid_until > '-infinity' AND p.not_before <= now()
        ORDER BY p.valid_until LIMIT 100
        """
}
