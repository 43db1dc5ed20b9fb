import Foundation
import HTTPTypes
import PushCore
import Store

/// `/consumers/{name}/webhook` and `/dead-letters`: where the events of consumers are posted.
struct WebhookRoutes: Sendable {
    let database: APIDatabase
    /// Reads the keys that seal secrets.
    let keyring: @Sendable () throws -> CredentialKeyring

    private static let path = "/consumers/{name}/webhook"
    private static let usualPage: Int32 = 20
    private static let maxOfPage: Int32 = 100
    private static let letterParameter = APIRoute.Parameter.path(
        "id",
        #"{"type": "string", "format": "uuid", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}"#,
        "The id of a dead letter."
    )

    var routes: [APIRoute] { webhookRoutes + letterRoutes }

    private var webhookRoutes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/webhooks",
                operation: "listWebhooks",
                summary: "The webhooks, by the names of their consumers",
                details:
                    "Addresses are not shown, because their paths may hold secrets. \(ConsumerRoutes.unlimited)",
                scope: .writeEvents,
                answers: [200: "WebhookList"],
                handle: list
            ),
            APIRoute(
                method: .post,
                path: Self.path,
                operation: "createWebhook",
                summary: "Have the events of a consumer posted to an address",
                details:
                    "The answer has the secret that signs them, which is never shown again. Nothing is posted unless feedback.webhooks.allowedHosts has the host. \(ConsumerRoutes.unlimited)",
                scope: .writeEvents,
                body: .required(schema: "NewWebhook"),
                parameters: [APIRoute.nameParameter],
                answers: [201: "WebhookSecret"],
                problems: [.notFound, .conflict],
                handle: create
            ),
            APIRoute(
                method: .patch,
                path: Self.path,
                operation: "changeWebhook",
                summary: "Change the address of a webhook",
                details:
                    "What waits is posted to it at once, with the same secrets. A webhook that its receiver had disabled posts again. \(ConsumerRoutes.unlimited)",
                scope: .writeEvents,
                body: .required(schema: "WebhookChange"),
                parameters: [APIRoute.nameParameter],
                answers: [200: "Webhook"],
                problems: [.notFound],
                handle: change
            ),
            APIRoute(
                method: .delete,
                path: Self.path,
                operation: "removeWebhook",
                summary: "Remove the webhook of a consumer",
                details:
                    "The consumer stays, and gets back what the receiver has not accepted, also dead letters. \(ConsumerRoutes.unlimited)",
                scope: .writeEvents,
                parameters: [APIRoute.nameParameter],
                answers: [204: ""],
                problems: [.notFound],
                handle: remove
            ),
            control("pause", "Post nothing more; the events wait, within the bounds of the consumer", false),
            control("resume", "Post again, at once what waits", true),
            APIRoute(
                method: .post,
                path: Self.path + "/secret",
                operation: "rotateWebhookSecret",
                summary: "Give a webhook a new secret",
                details:
                    "The answer has it; it is never shown again. The present secret signs, too, for overlapSeconds, and earlier ones until they end. \(ConsumerRoutes.unlimited)",
                scope: .writeEvents,
                body: .optional(schema: "SecretRotation"),
                parameters: [APIRoute.nameParameter],
                answers: [200: "WebhookSecret"],
                problems: [.notFound, .conflict],
                handle: rotate
            ),
        ]
    }

    private var letterRoutes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/dead-letters",
                operation: "listDeadLetters",
                summary: "Batches of events that a receiver did not accept, the latest first",
                details: ConsumerRoutes.unlimited,
                scope: .writeEvents,
                parameters: [
                    .query(
                        "limit",
                        #"{"type": "integer", "minimum": 1, "maximum": 100, "default": 20}"#,
                        "The number of dead letters."
                    )
                ],
                answers: [200: "DeadLetterList"],
                handle: letters
            ),
            APIRoute(
                method: .post,
                path: "/dead-letters/{id}/resend",
                operation: "resendDeadLetter",
                summary: "Post a dead letter again, before the events that follow",
                details: ConsumerRoutes.unlimited,
                scope: .writeEvents,
                parameters: [Self.letterParameter],
                answers: [204: ""],
                problems: [.notFound],
                handle: resend
            ),
        ]
    }

    private func control(_ verb: String, _ summary: String, _ isEnabled: Bool) -> APIRoute {
        APIRoute(
            method: .post,
            path: Self.path + "/" + verb,
            operation: "\(verb)Webhook",
            summary: summary,
            details: ConsumerRoutes.unlimited,
            scope: .writeEvents,
            parameters: [APIRoute.nameParameter],
            answers: [200: "Webhook"],
            problems: [.notFound],
            handle: { call in
                try call.checkEvents()
                let name = try call.name("consumer")
                return try await changed(name) { try await $0.enableWebhook(consumer: name, isEnabled) }
            }
        )
    }
}

/// What the routes do.
extension WebhookRoutes {
    private func list(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let rows = try await database.run { try await $0.webhooks(withAddresses: false) }
        return APIReply(.ok, .members(("webhooks", .array(rows.map(Self.json)))))
    }

    private func create(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let name = try call.name("consumer")
        var reader = JSONReader(call.body)
        let url = Self.url(&reader)
        let maxEvents = reader.integer("maxEvents", WebhookRow.batchSizes) ?? WebhookRow.usualBatch
        try reader.close()
        let secret = WebhookSecret()
        try await database.run { store in
            try await store.createWebhook(consumer: name, url: url, maxEvents: maxEvents, sealing: sealing(secret))
        }
        return APIReply(.created, Self.json(secret, of: name))
    }

    private static func url(_ reader: inout JSONReader) -> String {
        let url = reader.text("url", required: true, as: .webhookURL, mayBeEmpty: false) ?? ""
        if !url.isEmpty, WebhookTarget(url) == nil {
            reader.note("url", "an https:// address with a host and without a user name is expected")
        }
        return url
    }

    private func change(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let name = try call.name("consumer")
        var reader = JSONReader(call.body)
        let url = Self.url(&reader)
        let maxEvents = reader.integer("maxEvents", WebhookRow.batchSizes)
        try reader.close()
        return try await changed(name) { try await $0.setWebhook(consumer: name, url: url, maxEvents: maxEvents) }
    }

    /// Changes a webhook, and gives it as it is then.
    private func changed(
        _ consumer: String,
        _ change: @escaping @Sendable (Store) async throws -> Void
    ) async throws -> APIReply {
        let row = try await database.run { store in
            try await change(store)
            return try await store.webhooks(withAddresses: false).first { $0.consumer == consumer }
        }
        guard let row else { throw APIProblem.notFound("webhook of this consumer") }
        return APIReply(.ok, Self.json(row))
    }

    private func rotate(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let name = try call.name("consumer")
        var reader = JSONReader(call.body)
        let overlap = reader.integer("overlapSeconds", WebhookRow.overlaps) ?? WebhookRow.usualOverlap
        try reader.close()
        let secret = WebhookSecret()
        try await database.run { store in
            try await store.rotateWebhookSecret(consumer: name, overlapSeconds: overlap, sealing: sealing(secret))
        }
        return APIReply(.ok, Self.json(secret, of: name))
    }

    private func sealing(_ secret: WebhookSecret) -> Store.SecretSealing {
        { [keyring] id in
            guard let cipher = try? keyring().current else {
                throw APIProblem.unavailable("The web process cannot read the key that seals secrets.")
            }
            return SealedWebhookSecret(
                id: id,
                sealKeyID: cipher.keyID,
                sealed: try cipher.seal(secret.bytes, credentialID: id)
            )
        }
    }

    private func remove(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let name = try call.name("consumer")
        try await database.run { try await $0.dropWebhook(consumer: name) }
        return APIReply(.noContent)
    }

    private func letters(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
        try query.close()
        try call.requireAllApplications(ConsumerRoutes.subject)
        let rows = try await database.run { try await $0.deadLetters(limit: Int(limit)) }
        return APIReply(.ok, .members(("deadLetters", .array(rows.map(Self.json)))))
    }

    private func resend(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        guard let id = call.path["id"], UUID(uuidString: id)?.uuidString.lowercased() == id else {
            throw APIProblem.invalid("path:id", "the id of a dead letter is expected")
        }
        try await database.run { try await $0.resendDeadLetter(id) }
        return APIReply(.noContent)
    }

    private static func json(_ secret: WebhookSecret, of consumer: String) -> JSONValue {
        .members(("consumer", .string(consumer)), ("secret", .string(secret.text)))
    }

    private static func json(_ row: WebhookRow) -> JSONValue {
        .members(
            ("consumer", .string(row.consumer)),
            ("host", .string(row.host)),
            ("active", .boolean(row.isActive)),
            ("inactiveReason", .filledText(row.inactiveReason)),
            ("accepted", .integer(row.accepted)),
            ("acceptedAt", .time(row.acceptedAt)),
            ("attempts", row.attempts.map { JSONValue.integer($0) } ?? .null),
            ("trouble", .filledText(row.trouble ?? "")),
            ("deadLetters", .integer(row.deadLetters))
        )
    }

    private static func json(_ row: DeadLetterRow) -> JSONValue {
        .members(
            ("id", .string(row.id)),
            ("consumer", .string(row.consumer)),
            ("events", .integer(row.events)),
            ("deadAt", .time(row.deadAt)),
            ("httpStatus", row.httpStatus == 0 ? .null : .integer(row.httpStatus)),
            ("trouble", .string(row.trouble))
        )
    }
}
