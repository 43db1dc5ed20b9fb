import HTTPTypes
import PushCore
import Store

/// `/messages`: single messages of continuous deliveries.
struct MessageRoutes: Sendable {
    let database: APIDatabase

    private static let idempotencyKey = HTTPField.Name("idempotency-key") ?? .via
    /// The maximum number of messages in a request. Pausing or stopping the delivery must wait for its transaction.
    private static let maxMessages = 1_000
    /// The maximum size of a request in bytes, as for targets.
    private static let maxBytes = TargetRoutes.maxBytes

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/messages",
                operation: "sendMessage",
                summary: "Send one message with a continuous delivery",
                details:
                    "A user gets a message on each device. With an Idempotency-Key, repeating the same request sends nothing: it returns 200 with the messages of the first request, and `repeated` is true. The same key with a different request is refused with 409. A key applies to one delivery, for at least 24 hours.",
                scope: .sendMessages,
                body: .required(schema: "NewMessage"),
                parameters: [
                    .header(
                        "Idempotency-Key",
                        APIText.idempotencyKey.schema(mayBeEmpty: false),
                        "Printable ASCII without spaces, such as a UUID."
                    )
                ],
                answers: [200: "SentMessages", 202: "SentMessages"],
                problems: [.notFound, .conflict],
                handle: send
            ),
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/messages",
                operation: "sendMessages",
                summary: "Send up to \(Self.maxMessages) messages with a continuous delivery",
                details:
                    "They are added in one transaction. A message that cannot be sent to its addressee does not affect the others: results has one element for each message, in their order. The whole call is refused if a message is invalid or the delivery accepts none. At most \(Self.maxBytes >> 20) MiB in a request. Each message may have an idempotencyKey, which works like the header of sendMessage: with these the whole call is safe to repeat.",
                scope: .sendMessages,
                body: .required(schema: "NewMessages"),
                maxBodyBytes: Self.maxBytes,
                parameters: [APIRoute.idParameter],
                answers: [202: "SentMessageList"],
                problems: [.notFound, .conflict],
                handle: sendMany
            ),
            APIRoute(
                method: .get,
                path: "/messages",
                operation: "findMessages",
                summary: "Find a message by any of its ids",
                details:
                    "An id that can be of several kinds may match several messages; matchedAs is the kind that matched. If nothing is found, the problem's detail says what was looked for, and where.",
                scope: .readMessages,
                parameters: [
                    APIRoute.Parameter(
                        name: "id",
                        place: "query",
                        isRequired: true,
                        schema: APIText.messageID.schema(mayBeEmpty: false),
                        meaning:
                            "The id that sendMessage returned; _mId as a UUID or a number, decimal or hexadecimal; apns-id; the URL of a device's tracking request; with deliveryId the name that FCM returned, whole or its last part."
                    ),
                    .query(
                        "deliveryId",
                        #"{"type": "integer", "minimum": 1}"#,
                        "The delivery in which a gateway's id is looked for; all of its outcomes are searched."
                    ),
                ],
                answers: [200: "FoundMessages"],
                problems: [.notFound],
                handle: find
            ),
            APIRoute(
                method: .get,
                path: "/messages/{id}",
                operation: "readMessage",
                summary: "The status of a message",
                scope: .readMessages,
                parameters: [
                    .path("id", #"{"type": "string", "pattern": "^[0-9]+-[0-9]+$"}"#, "The message's id.")
                ],
                answers: [200: "Message"],
                problems: [.notFound],
                handle: read
            ),
        ]
    }

    private func send(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let given = try MessageBody(call.body)
        let key = try Self.idempotencyKey(call.head)
        let sent = try await database.run { store in
            // A key that is limited to applications must not reveal the existence of other deliveries.
            if call.applications != nil { _ = try await store.apiDelivery(given.delivery, for: call) }
            return try await store.sendMessage(
                NewMessage(
                    deliveryID: given.delivery,
                    address: given.address,
                    variables: given.variables,
                    idempotencyKey: key
                )
            )
        }
        let isRepeated = sent.contains { $0.isRepeated }
        return APIReply(
            isRepeated ? .ok : .accepted,
            .members(("repeated", .boolean(isRepeated)), ("messages", Self.json(sent)))
        )
    }

    private func sendMany(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let given = try Self.messages(call.body, delivery: id)
        let sent = try await database.run { store in
            if call.applications != nil { _ = try await store.apiDelivery(id, for: call) }
            return try await store.sendMessages(given, delivery: id)
        }
        let results = sent.map { one in
            JSONValue.members(
                ("messages", Self.json(one.references)),
                ("repeated", .boolean(one.references.contains { $0.isRepeated })),
                ("refusal", one.refusal.map { .string(MessageRefusalKind($0).rawValue) } ?? .null),
                ("reason", .text(one.refusal?.reason))
            )
        }
        return APIReply(.accepted, .members(("results", .array(results))))
    }

    private static func messages(_ body: JSONValue, delivery: Int64) throws(APIProblem) -> [NewMessage] {
        var reader = JSONReader(body)
        var messages: [NewMessage] = []
        for (place, element) in (reader.list("messages", required: true, 1...maxMessages) ?? []).enumerated() {
            var one = JSONReader(element, at: "/messages/\(place)")
            let address = MessageBody.address(&one)
            let variables = MessageBody.variables(&one)
            let key = one.text("idempotencyKey", as: .idempotencyKey, mayBeEmpty: false)
            if let key, !isIdempotencyKey(key) { one.note("idempotencyKey", idempotencyKeyWords) }
            reader.add(one.finish())
            guard let address else { continue }
            messages.append(
                NewMessage(deliveryID: delivery, address: address, variables: variables, idempotencyKey: key)
            )
        }
        try reader.close()
        return messages
    }

    private static func json(_ references: [MessageReference]) -> JSONValue {
        .array(
            references.map { one in
                .members(
                    ("id", .string(one.id)),
                    ("deliveryId", .integer(one.deliveryID)),
                    ("sequence", .integer(one.sequence)),
                    ("deviceId", .integer(one.subscriptionID))
                )
            }
        )
    }

    private static let idempotencyKeyWords =
        "1 to \(APIText.idempotencyKey.maxBytes) printable ASCII characters without spaces are expected"

    private static func isIdempotencyKey(_ key: String) -> Bool {
        (1...APIText.idempotencyKey.maxBytes).contains(key.utf8.count)
            && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func idempotencyKey(_ head: HTTPFields) throws(APIProblem) -> String? {
        // Repeated headers are joined with a comma and a blank, which makes the key invalid.
        guard let key = head[idempotencyKey] else { return nil }
        guard isIdempotencyKey(key) else { throw .invalid("header:Idempotency-Key", idempotencyKeyWords) }
        return key
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = call.path["id"] ?? ""
        let row = try await database.run { store in
            guard let row = try await store.message(id) else { throw APIProblem.notFound("message of this id") }
            if call.applications != nil { _ = try await store.apiDelivery(row.deliveryID, for: call) }
            return row
        }
        return APIReply(.ok, Self.object(row))
    }

    private func find(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let text = query.text("id", as: .messageID)
        let delivery = query.integer("deliveryId", 1...Int64.max)
        try query.close()
        guard let text, !text.isEmpty else { throw APIProblem.invalid("query:id", "it is missing") }
        let search = try await database.run { store in
            // A key that is limited to applications must not reveal the existence of other deliveries.
            guard call.applications != nil else { return try await store.findMessages(text, delivery: delivery) }
            if let delivery { _ = try await store.apiDelivery(delivery, for: call) }
            var visible: [FoundMessage] = []
            for one in try await store.findMessages(text, delivery: delivery).found {
                do {
                    _ = try await store.apiDelivery(one.message.deliveryID, for: call)
                    visible.append(one)
                } catch let problem as APIProblem where problem.kind == .notFound {}
            }
            return MessageSearch(found: visible, findings: [])
        }
        guard !search.found.isEmpty else {
            throw APIProblem.notFound("message of this id", looked: search.findings.map(\.words))
        }
        let rows = search.found.map { Self.object($0.message, matchedAs: $0.kind) }
        return APIReply(.ok, .members(("messages", .array(rows))))
    }

    private static func object(_ row: MessageRow, matchedAs kind: MessageIDKind? = nil) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .string(row.id)),
            ("deliveryId", .integer(row.deliveryID)),
            ("sequence", .integer(row.sequence)),
            ("deviceId", .integer(row.subscriptionID)),
            ("status", .string(row.status.name)),
            ("reason", .filledText(row.reason)),
            ("httpStatus", row.httpStatus == 0 ? .null : .integer(row.httpStatus)),
            ("attempt", .integer(row.attempt)),
            ("gatewayMessageId", .text(row.gatewayMessageID)),
            ("loggedAt", .time(row.loggedAt)),
            ("received", .boolean(row.isReceived)),
            ("clicked", .boolean(row.isClicked)),
        ]
        if let kind { members.append(("matchedAs", .string(kind.rawValue))) }
        return .object(members.map { JSONEntry(name: $0.0, value: $0.1) })
    }
}

/// Why one of several messages was refused.
enum MessageRefusalKind: String, Sendable, CaseIterable {
    /// No device in the delivery's applications has this address.
    case noDevice = "no_device"
    /// A different message was sent with this key.
    case keyInUse = "key_in_use"
    /// Its device is disabled, opted out or in quarantine.
    case notReachable = "not_reachable"
    /// The user has more devices than a message may be sent to.
    case tooManyDevices = "too_many_devices"

    /// The kind of a refusal by `pushmta.send_messages`.
    init(_ refusal: MessageRefusal) {
        self =
            switch refusal.code {
            case "PM062": .noDevice
            case "PM063": .keyInUse
            case "PM064": .notReachable
            default: .tooManyDevices
            }
    }
}
