import PostgresClient
import PushCore

/// One message with its outcome, as `pushmta.message_status` shows it.
package struct MessageRow: Sendable {
    package let id: String
    /// Its delivery; for a continuous one, the delivery of its day.
    package let deliveryID: Int64
    /// Its number in that delivery.
    package let sequence: Int32
    /// The subscription that it goes to.
    package let subscriptionID: Int64
    package let status: MessageStatus
    /// The gateway's text, or PushMTA's own.
    package let reason: String
    /// The gateway's status, 0 if none.
    package let httpStatus: Int16
    /// The present attempt, or the one that decided it.
    package let attempt: Int16
    /// The gateway's id of the message, if it gave one.
    package let gatewayMessageID: String?
    /// When its outcome was stored; nil while it is pending.
    package let loggedAt: DatabaseTime?
    /// Whether a device reported that it received it.
    package let isReceived: Bool
    /// Whether the user opened it.
    package let isClicked: Bool
}

/// A message found by an id.
package struct FoundMessage: Sendable {
    /// How the id was read.
    package let kind: MessageIDKind
    package let message: MessageRow
}

/// The result of a search by id.
package struct MessageSearch: Sendable {
    /// The messages: none, one, or several if the id has several meanings.
    package let found: [FoundMessage]
    /// If there is none: how the id was read, where it was searched, and why nothing was found.
    package let findings: [MessageFinding]

    package init(found: [FoundMessage], findings: [MessageFinding]) {
        self.found = found
        self.findings = findings
    }
}

/// One reading of an id, and why nothing was found.
package struct MessageFinding: Sendable, Hashable {
    /// How the id was read; nil if it does not have the form of an id.
    package let kind: MessageIDKind?
    /// Why nothing was found, as a word of `pushmta.explain_message_id`.
    package let finding: String
    /// The same as a sentence.
    package let words: String
    /// The delivery that the id names; nil if it names none.
    package let deliveryID: Int64?
}

/// A message that was added to a continuous delivery.
package struct MessageReference: Sendable, Hashable {
    /// Its id, as `pushmta.message_status` shows it.
    package let id: String
    /// The delivery of its day.
    package let deliveryID: Int64
    /// Its number in that delivery.
    package let sequence: Int32
    /// The subscription that it goes to.
    package let subscriptionID: Int64
    /// Whether its idempotency key was already used; then nothing was sent this time.
    package let isRepeated: Bool
}

/// The result for one of many messages that were added in one call.
package struct SentMessage: Sendable, Hashable {
    /// Its messages, one for each subscription that it goes to; empty if it was refused.
    package var references: [MessageReference] = []
    /// Why it was refused; nil if it was not.
    package var refusal: MessageRefusal?
}

/// Why a message was refused.
package struct MessageRefusal: Sendable, Hashable {
    /// The SQLSTATE with which `pushmta.send_message` would have refused it.
    package let code: String
    /// The reason as text.
    package let reason: String
}

extension Store {
    /// Adds a message to a continuous delivery in progress, and returns it: one for each subscription that it goes to.
    ///
    /// Safe to repeat with an idempotency key.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` or `invalid`, with the SQLSTATE of `pushmta.send_message`.
    package func sendMessage(_ message: NewMessage) async throws -> [MessageReference] {
        let address = message.address
        let result = try await query(
            """
            SELECT m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.repeated
            FROM pushmta.send_message($1, $2::bigint, $3::text, $4::text, $5::text::jsonb, $6::text) m
            """,
            [
                .int64(message.deliveryID), .int64OrNull(address.subscriptionID), .textOrNull(address.userKey),
                .textOrNull(address.pushToken), .text(message.variables), .textOrNull(message.idempotencyKey),
            ]
        )
        return try all(result, Self.reference)
    }

    /// Adds up to 10,000 messages to a continuous delivery in progress, in one transaction; they share parts.
    ///
    /// - Parameter messages: All for `delivery`. A message that cannot be sent to its addressee does not stop the
    ///   others.
    /// - Returns: The result for each, in their order.
    /// - Throws: ``StoreError`` as ``sendMessage(_:)``, if none can be sent.
    package func sendMessages(_ messages: [NewMessage], delivery: Int64) async throws -> [SentMessage] {
        let result = try await query(
            """
            SELECT m.element, m.refusal, m.reason, m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.repeated
            FROM pushmta.send_messages($1, $2::bigint[], $3::text[], $4::text[], $5::text[]::jsonb[], $6::text[]) m
            """,
            [
                .int64(delivery), .int64ArrayWithNulls(messages.map(\.address.subscriptionID)),
                .textArray(messages.map(\.address.userKey)), .textArray(messages.map(\.address.pushToken)),
                .textArray(messages.map(\.variables)), .textArray(messages.map(\.idempotencyKey)),
            ]
        )
        var sent = [SentMessage](repeating: SentMessage(), count: messages.count)
        let answers = try all(result) { row in
            (
                element: Int(try row.int32()) - 1, refusal: try row.textOrNil(), reason: try row.textOrNil(),
                reference: try row.ifPresent(5, Self.reference)
            )
        }
        for answer in answers {
            guard sent.indices.contains(answer.element), answer.refusal != nil || answer.reference != nil else {
                throw StoreError(
                    .unexpectedAnswer,
                    "send_messages returned a row for element \(answer.element + 1) of \(messages.count)."
                )
            }
            if let code = answer.refusal {
                sent[answer.element].refusal = MessageRefusal(code: code, reason: answer.reason ?? "")
            } else if let reference = answer.reference {
                sent[answer.element].references.append(reference)
            }
        }
        return sent
    }

    /// The five columns of a reference.
    private static func reference(_ row: inout RowReader) throws -> MessageReference {
        MessageReference(
            id: try row.text(),
            deliveryID: try row.int64(),
            sequence: try row.int32(),
            subscriptionID: try row.int64(),
            isRepeated: try row.bool()
        )
    }

    /// One message by its id, delivery and number as in 42-1007; nil if there is none, or if its day was deleted.
    package func message(_ id: String) async throws -> MessageRow? {
        try await foundMessages(id, delivery: nil).first { $0.kind == .messageID }?.message
    }

    /// Finds messages by any kind of id, with how the id was read.
    ///
    /// - Parameters:
    ///   - id: as a phone, a gateway or a log shows it.
    ///   - delivery: where to search a gateway's id; nil: gateway ids are not searched.
    /// - Returns: the messages; if there is none, how the id was read, where it was searched, and why nothing was
    ///   found.
    package func findMessages(_ id: String, delivery: Int64? = nil) async throws -> MessageSearch {
        let found = try await foundMessages(id, delivery: delivery)
        guard found.isEmpty else { return MessageSearch(found: found, findings: []) }
        let result = try await query(
            "SELECT e.form, e.finding, e.words, e.delivery_id FROM pushmta.explain_message_id($1, $2::bigint) e",
            [.text(id), .int64OrNull(delivery)]
        )
        return MessageSearch(
            found: [],
            findings: try all(result) { row in
                MessageFinding(
                    kind: try row.textOrNil().flatMap { MessageIDKind(rawValue: $0) },
                    finding: try row.text(),
                    words: try row.text(),
                    deliveryID: try row.int64OrNil()
                )
            }
        )
    }

    private func foundMessages(_ id: String, delivery: Int64?) async throws -> [FoundMessage] {
        let result = try await query(
            """
            SELECT m.matched_as, m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.status, m.reason, m.http_status, m.attempt,
                m.gateway_message_id, m.logged_at, m.received, m.clicked
            FROM pushmta.find_message($1, $2::bigint) m
            """,
            [.text(id), .int64OrNull(delivery)]
        )
        return try all(result) { row in
            let word = try row.text()
            guard let kind = MessageIDKind(rawValue: word) else {
                throw StoreError(
                    .unexpectedAnswer,
                    "find_message read an id as \(word), which this program does not know."
                )
            }
            return FoundMessage(kind: kind, message: try Self.message(&row))
        }
    }

    private static func status(_ word: String) throws -> MessageStatus {
        guard let status = MessageStatus(name: word) else {
            throw StoreError(.unexpectedAnswer, "A message has the status \(word), which this program does not know.")
        }
        return status
    }

    private static func message(_ row: inout RowReader) throws -> MessageRow {
        MessageRow(
            id: try row.text(),
            deliveryID: try row.int64(),
            sequence: try row.int32(),
            subscriptionID: try row.int64(),
            status: try status(try row.text()),
            reason: try row.text(),
            httpStatus: try row.int16(),
            attempt: try row.int16(),
            gatewayMessageID: try row.textOrNil(),
            loggedAt: try row.timeOrNil(),
            isReceived: try row.bool(),
            isClicked: try row.bool()
        )
    }

    /// Parts of continuous deliveries that can be sent now, the first hundred. The look costs almost nothing.
    package func readyMessageParts() async throws -> Set<ReadyMessagePart> {
        let result = try await query(Self.readyMessagePartsSQL)
        return Set(
            try all(result) { row in
                ReadyMessagePart(
                    id: try row.int64(),
                    applicationID: try row.int32(),
                    accountID: try row.int32()
                )
            }
        )
    }

    /// Condition and order leave the index of these parts as the only plan, whatever the planner estimates for a table
    /// that was empty a moment ago.
    static let readyMessagePartsSQL = """
        SELECT p.id, p.application_id, p.external_account_id FROM pushmta_engine.delivery_part p
        WHERE p.state = 'ready' AND p.valid_until > '-infinity' AND p.not_before <= now()
        ORDER BY p.valid_until LIMIT 100
        """
}
