import HTTPTypes
import PushCore
import Store

/// `/messages`: single messages of continuous deliveries.
struct MessageRoutes: Sendable {
    let database: APIDatabase

    private static let idempotencyKey = HTTPField.Name("idempotency-key") ?? .via
    private static let longestIdempotencyKey = 255
    /// Messages of one request: pausing and stopping the delivery wait for its transaction.
    private static let mostMessages = 1_000
    /// Bytes of an id that is looked for: the address of a tracking request is the longest.
    private static let longestID = 2_000
    /// Their bytes: as many as targets may have.
    private static let mostBytes = TargetRoutes.mostBytes

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
                method: .post,
                path: "/deliveries/{id}/messages",
                operation: "sendMessages",
                summary: "Send up to \(Self.mostMessages) messages with a continuous delivery",
                details:
                    "They are added in one transaction, and what cannot be sent to its addressee does not keep the others from being sent: results has one element for each message, in their order. What no message can be made of, and a delivery that takes none, refuse the whole call. At most \(Self.mostBytes >> 20) MiB in a request. Each message may have an idempotencyKey, which does what the header of sendMessage does: with them the whole call is safe to repeat.",
                scope: .sendMessages,
                body: .required(schema: "NewMessages"),
                mostBodyBytes: Self.mostBytes,
                parameters: [APIRoute.idParameter],
                answers: [202: "SentMessageList"],
                problems: [.notFound, .conflict],
                handle: sendMany
            ),
            APIRoute(
                method: .get,
                path: "/messages",
                operation: "findMessages",
                summary: "Find a message by any id of it",
                details:
                    "An id that can be several things may lead to several messages: matchedAs says what it was taken for. If nothing is found, the problem's detail says what was looked for, and where.",
                scope: .readMessages,
                parameters: [
                    APIRoute.Parameter(
                        name: "id",
                        place: "query",
                        isRequired: true,
                        schema: #"{"type": "string", "minLength": 1, "maxLength": \#(Self.longestID)}"#,
                        meaning:
                            "As sendMessage gave it; _mId as a UUID or a number, decimal or hexadecimal; apns-id; the address of a device's tracking request; with deliveryId the name that FCM gave, whole or its last part."
                    ),
                    .query(
                        "deliveryId",
                        #"{"type": "integer", "minimum": 1}"#,
                        "Where a gateway's id is looked for: all outcomes of this delivery are looked through."
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
        return APIReply(
            isRepeated ? .ok : .accepted,
            .members(("repeated", .boolean(isRepeated)), ("messages", Self.json(sent)))
        )
    }

    private func sendMany(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = try call.id("delivery")
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
        for (place, element) in (reader.list("messages", required: true, 1...mostMessages) ?? []).enumerated() {
            var one = JSONReader(element, at: "/messages/\(place)")
            let address = MessageBody.address(&one)
            let variables = MessageBody.variables(&one)
            let key = one.text("idempotencyKey", most: longestIdempotencyKey, mayBeEmpty: false)
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
        "1 to \(longestIdempotencyKey) printable ASCII characters without spaces are taken"

    private static func isIdempotencyKey(_ key: String) -> Bool {
        (1...longestIdempotencyKey).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func idempotencyKey(_ head: HTTPFields) throws(APIProblem) -> String? {
        // Several headers come joined with a comma and a blank.
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
        let text = query.text("id", most: Self.longestID)
        let delivery = query.integer("deliveryId", 1...Int64.max)
        try query.close()
        guard let text, !text.isEmpty else { throw APIProblem.invalid("query:id", "it is missing") }
        let search = try await database.run { store in
            // Whoever may read some applications only must not find out what other deliveries there are.
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
        variables = Self.variables(&reader)
        if delivery == nil, !reader.faults.contains(where: { $0.path == "/deliveryId" }) {
            reader.note("deliveryId", "it is missing")
        }
        try reader.close()
        guard let delivery, let address else { throw .invalid("", "deliveryId and an address are expected") }
        self.delivery = delivery
        self.address = address
    }

    /// The values of a message's fields.
    static func variables(_ reader: inout JSONReader) -> String {
        let variables = reader.object("variables")?.compactText ?? "{}"
        if variables.utf8.count > MessageLimits.longestVariables {
            reader.note("variables", "they have more than \(MessageLimits.longestVariables) bytes")
        }
        return variables
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

/// Why nothing was made of one of several messages.
enum MessageRefusalKind: String, Sendable, CaseIterable {
    /// There is no device of this address in the delivery's applications.
    case noDevice = "no_device"
    /// It has been sent with other arguments under this key.
    case keyInUse = "key_in_use"
    /// Its device is disabled, has opted out or is in quarantine.
    case notReachable = "not_reachable"
    /// The user has more devices than a message may go to.
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
