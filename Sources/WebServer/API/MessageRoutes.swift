import HTTPTypes
import PushCore
import Store

/// `/messages`: single messages of continuous deliveries.
struct MessageRoutes: Sendable {
    let database: APIDatabase

    private static let idempotencyKey = HTTPField.Name("idempotency-key") ?? .via
    private static let longestIdempotencyKey = 255

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/messages",
                operation: "sendMessage",
                summary: "Send one message with a continuous delivery",
                details:
                    "A user has a message for each device. With an Idempotency-Key the same request again sends nothing, answers 200 with the messages of the first one, and `repeated` is true; the same key with another request is refused with 409. A key holds for a delivery and for at least 24 hours.",
                scope: .sendMessages,
                body: .required(schema: "NewMessage"),
                parameters: [
                    .header(
                        "Idempotency-Key",
                        #"{"type": "string", "minLength": 1, "maxLength": 255}"#,
                        "Printable ASCII without spaces, such as a UUID."
                    )
                ],
                answers: [200: "SentMessages", 202: "SentMessages"],
                problems: [.notFound, .conflict],
                handle: send
            ),
            APIRoute(
                method: .get,
                path: "/messages/{id}",
                operation: "readMessage",
                summary: "What became of a message",
                scope: .readMessages,
                parameters: [
                    .path("id", #"{"type": "string", "pattern": "^[0-9]+-[0-9]+$"}"#, "As sendMessage gave it.")
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
            // Whoever may send to some applications only must not find out what other deliveries there are.
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
        let messages = sent.map { one in
            JSONValue.members(
                ("id", .string(one.id)),
                ("deliveryId", .integer(one.deliveryID)),
                ("sequence", .integer(one.sequence)),
                ("deviceId", .integer(one.subscriptionID))
            )
        }
        return APIReply(
            isRepeated ? .ok : .accepted,
            .members(("repeated", .boolean(isRepeated)), ("messages", .array(messages)))
        )
    }

    private static func idempotencyKey(_ head: HTTPFields) throws(APIProblem) -> String? {
        guard let key = head[idempotencyKey] else { return nil }
        // Several headers come joined with a comma and a blank.
        guard (1...longestIdempotencyKey).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw .invalid(
                "header:Idempotency-Key",
                "1 to \(longestIdempotencyKey) printable ASCII characters without spaces are taken"
            )
        }
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
        return APIReply(
            .ok,
            .members(
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
                ("clicked", .boolean(row.isClicked))
            )
        )
    }
}

/// The body of a single message.
struct MessageBody: Sendable {
    let delivery: Int64
    let address: MessageAddress
    let variables: String

    /// An index holds a user's key.
    private static let longestKey = 1_000

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let delivery = reader.integer("deliveryId", 1...Int64.max)
        let address = Self.address(&reader)
        variables = reader.object("variables")?.compactText ?? "{}"
        if variables.utf8.count > MessageLimits.longestVariables {
            reader.note("variables", "they have more than \(MessageLimits.longestVariables) bytes")
        }
        if delivery == nil, !reader.faults.contains(where: { $0.path == "/deliveryId" }) {
            reader.note("deliveryId", "it is missing")
        }
        try reader.close()
        guard let delivery, let address else { throw .invalid("", "deliveryId and an address are expected") }
        self.delivery = delivery
        self.address = address
    }

    /// Whom a message goes to: exactly one of three members; nil if that was noted as wrong.
    static func address(_ reader: inout JSONReader) -> MessageAddress? {
        let before = reader.faults.count
        let device = reader.integer("deviceId", 1...Int64.max)
        let user = reader.text("userKey", most: longestKey, mayBeEmpty: false)
        let token = reader.text("pushToken", most: PushTokenForm.androidLength.upperBound, mayBeEmpty: false)
        switch (device, user, token) {
        case (let device?, nil, nil): return .subscription(device)
        case (nil, let user?, nil): return .userKey(user)
        case (nil, nil, let token?): return .pushToken(token)
        default:
            if reader.faults.count == before {
                reader.note("", "exactly one of deviceId, userKey and pushToken is expected")
            }
            return nil
        }
    }
}
