import PostgresClient
import PushCore

/// One message and what became of it, as `pushmta.message_status` has it.
public struct MessageRow: Sendable {
    public let id: String
    /// Its delivery; of a continuous one, the delivery of its day.
    public let deliveryID: Int64
    /// Its number in that delivery.
    public let sequence: Int32
    /// The subscription that it goes to.
    public let subscriptionID: Int64
    public let status: MessageStatus
    /// The gateway's words, or ours.
    public let reason: String
    /// The gateway's status, 0 if none.
    public let httpStatus: Int16
    /// The send attempt that it is in, or that decided it.
    public let attempt: Int16
    /// The gateway's name for it, if it gave one.
    public let gatewayMessageID: String?
    /// When its outcome was stored; nil while it is pending.
    public let loggedAt: DatabaseTime?
    /// Whether a device has said that it came.
    public let isReceived: Bool
    /// Whether somebody has opened it.
    public let isClicked: Bool

    public init(
        id: String,
        deliveryID: Int64,
        sequence: Int32,
        subscriptionID: Int64,
        status: MessageStatus,
        reason: String,
        httpStatus: Int16,
        attempt: Int16,
        gatewayMessageID: String?,
        loggedAt: DatabaseTime?,
        isReceived: Bool,
        isClicked: Bool
    ) {
        self.id = id
        self.deliveryID = deliveryID
        self.sequence = sequence
        self.subscriptionID = subscriptionID
        self.status = status
        self.reason = reason
        self.httpStatus = httpStatus
        self.attempt = attempt
        self.gatewayMessageID = gatewayMessageID
        self.loggedAt = loggedAt
        self.isReceived = isReceived
        self.isClicked = isClicked
    }
}

/// What an id of a message can be.
public enum MessageIDKind: String, Sendable, Hashable, CaseIterable {
    /// Delivery and number, as `send_message` returns it and logs show it: 42-1007.
    case messageID = "message_id"
    /// `_mId` as a UUID, which is also `apns-id`.
    case uuid
    /// A numbered `_mId`, decimal.
    case int32
    /// A numbered `_mId`, hexadecimal, as devices send it.
    case int32Hex = "int32_hex"
    /// The gateway's own: the name that FCM gave, whole or its last part.
    case gatewayID = "gateway_id"
}

/// A message that an id led to.
public struct FoundMessage: Sendable {
    /// What the id was taken for.
    public let kind: MessageIDKind
    public let message: MessageRow
}

/// What an id led to.
public struct MessageSearch: Sendable {
    /// The messages: none, one, or several if the id can be several things.
    public let found: [FoundMessage]
    /// If there is none: what was looked for, where, and why nothing was found.
    public let findings: [MessageFinding]

    public init(found: [FoundMessage], findings: [MessageFinding]) {
        self.found = found
        self.findings = findings
    }
}

/// What was looked for by an id, and why nothing was found.
public struct MessageFinding: Sendable, Hashable {
    /// What the id was taken for; nil for what has the form of no id.
    public let kind: MessageIDKind?
    /// Why nothing was found, in a word of `pushmta.explain_message_id`.
    public let finding: String
    /// The same in a sentence.
    public let words: String
    /// The delivery that the id names; nil if it names none.
    public let deliveryID: Int64?
}

/// A message to add to a continuous delivery.
public struct NewMessage: Sendable {
    public var deliveryID: Int64
    public var address: MessageAddress
    /// The values of its fields, a JSON object.
    public var variables: String
    /// A name for this message that the caller chooses: sent again with it within 24 hours, it is the same message.
    public var idempotencyKey: String?

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

/// Whom a message goes to.
public enum MessageAddress: Sendable, Hashable {
    /// One subscription, by its id.
    case subscription(Int64)
    /// All subscriptions of a user in the delivery's applications, or the latest registered one if the delivery says so.
    case userKey(String)
    /// The subscription that has this push token now.
    case pushToken(String)
}

/// A message that was added to a continuous delivery.
public struct MessageReference: Sendable, Hashable {
    /// Its id, as `pushmta.message_status` shows it.
    public let id: String
    /// The delivery of its day.
    public let deliveryID: Int64
    /// Its number in that delivery.
    public let sequence: Int32
    /// The subscription that it goes to.
    public let subscriptionID: Int64
    /// Whether its idempotency key was known: then nothing was sent this time.
    public let isRepeated: Bool

    public init(id: String, deliveryID: Int64, sequence: Int32, subscriptionID: Int64, isRepeated: Bool) {
        self.id = id
        self.deliveryID = deliveryID
        self.sequence = sequence
        self.subscriptionID = subscriptionID
        self.isRepeated = isRepeated
    }
}

/// What became of one of many messages that were added with one call.
public struct SentMessage: Sendable, Hashable {
    /// What was made of it, one for each subscription that it goes to; empty if nothing was.
    public var references: [MessageReference] = []
    /// Why nothing was made of it; nil if something was.
    public var refusal: MessageRefusal?
}

/// Why nothing was made of a message.
public struct MessageRefusal: Sendable, Hashable {
    /// The SQLSTATE with which `pushmta.send_message` would have refused it.
    public let code: String
    /// The reason in words.
    public let reason: String
}

/// A part of a continuous delivery that is ready to be sent.
public struct ReadyMessagePart: Sendable, Hashable {
    public let id: Int64
    /// The application of its messages.
    public let applicationID: Int32
    public let accountID: Int32

    public init(id: Int64, applicationID: Int32, accountID: Int32) {
        self.id = id
        self.applicationID = applicationID
        self.accountID = accountID
    }
}

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
        return try all(result, Self.reference)
    }

    /// Adds up to 10,000 messages to a continuous delivery in progress, in one transaction; they share parts.
    ///
    /// - Parameter messages: All for `delivery`. What cannot be sent to its addressee does not keep the others from being sent.
    /// - Returns: What became of each, in their order.
    /// - Throws: ``StoreError`` as ``sendMessage(_:)``, if none can be sent.
    public func sendMessages(_ messages: [NewMessage], delivery: Int64) async throws -> [SentMessage] {
        var ids: [Int64?] = []
        var keys: [String?] = []
        var tokens: [String?] = []
        for message in messages {
            var (id, key, token): (Int64?, String?, String?)
            switch message.address {
            case .subscription(let one): id = one
            case .userKey(let one): key = one
            case .pushToken(let one): token = one
            }
            ids.append(id)
            keys.append(key)
            tokens.append(token)
        }
        let result = try await query(
            """
            SELECT m.element, m.refusal, m.reason, m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.repeated
            FROM pushmta.send_messages($1, $2::bigint[], $3::text[], $4::text[], $5::text[]::jsonb[], $6::text[]) m
            """,
            [
                .int64(delivery), .int64ArrayWithNulls(ids), .textArray(keys), .textArray(tokens),
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
                    "send_messages answered for element \(answer.element + 1) of \(messages.count)."
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

    /// One message by its id, delivery and number as in 42-1007, whatever its delivery; nil if there is none, or its day is no longer kept.
    public func message(_ id: String) async throws -> MessageRow? {
        try await foundMessages(id, delivery: nil).first { $0.kind == .messageID }?.message
    }

    /// The messages of an id of any kind, with what it was taken for.
    ///
    /// - Parameters:
    ///   - id: what a phone, a gateway or a log shows.
    ///   - delivery: where a gateway's id is looked for; nil: such an id is not looked for.
    /// - Returns: the messages; if there is none, what was looked for, where, and why nothing was found.
    public func findMessages(_ id: String, delivery: Int64? = nil) async throws -> MessageSearch {
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
                    "find_message took an id for \(word), which this program does not know."
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

    /// Parts of continuous deliveries that are ready to be sent now, the first hundred; next to nothing to look for.
    public func readyMessageParts() async throws -> Set<ReadyMessagePart> {
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

    /// Condition and order leave the index of these parts as the only way, whatever the planner believes of a table that was empty a
    /// moment ago.
    static let readyMessagePartsSQL = """
        SELECT p.id, p.application_id, p.external_account_id FROM pushmta_engine.delivery_part p
        WHERE p.state = 'ready' AND p.valid_until > '-infinity' AND p.not_before <= now()
        ORDER BY p.valid_until LIMIT 100
        """
}
