import HTTPTypes
import PushCore
import Store

/// `/consumers`: the consumers of events.
///
/// They belong to no application, so a key that is limited to applications has no access.
struct ConsumerRoutes: Sendable {
    let database: APIDatabase

    static let subject = "consumers of events"
    static let unlimited = "Needs a key that is not limited to applications, because consumers belong to none."

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/consumers",
                operation: "listConsumers",
                summary: "The consumers of events, by name",
                details: Self.unlimited,
                scope: .readEvents,
                answers: [200: "EventConsumerList"],
                handle: list
            ),
            APIRoute(
                method: .post,
                path: "/consumers",
                operation: "createConsumer",
                summary: "Create a consumer of events",
                details:
                    "It gets what happens from then on. Events that it has not read for longer than maxAgeSeconds, or beyond maxBytes, are lost to it. By default every key with the scope events:read may read it, and every role that may read events. \(Self.unlimited)",
                scope: .writeEvents,
                body: .required(schema: "NewEventConsumer"),
                answers: [201: "EventConsumer"],
                problems: [.notFound, .conflict],
                handle: create
            ),
            APIRoute(
                method: .delete,
                path: "/consumers/{name}",
                operation: "removeConsumer",
                summary: "Remove a consumer of events, with its webhook",
                details: Self.unlimited,
                scope: .writeEvents,
                parameters: [APIRoute.nameParameter],
                answers: [204: ""],
                problems: [.notFound],
                handle: remove
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let rows = try await database.run { try await $0.consumers() }
        return APIReply(.ok, .members(("consumers", .array(rows.map(Self.json)))))
    }

    private func create(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        var reader = JSONReader(call.body)
        var consumer = NewConsumer(name: reader.newName())
        consumer.kinds = reader.textList("kinds", 1...JSONReader.maxNames, as: .name)
        consumer.service = reader.text("service", as: .name, mayBeEmpty: false)
        if let seconds = reader.integer("maxAgeSeconds", NewConsumer.ages) { consumer.maxAgeSeconds = seconds }
        if let bytes = reader.integer("maxBytes", NewConsumer.minBytes...Int64.max) { consumer.maxBytes = bytes }
        consumer.reader = reader.text("reader", as: .name, mayBeEmpty: false)
        try reader.close()
        let made = consumer
        let row = try await database.run { store in
            try await store.createConsumer(made)
            return try await store.consumers().first { $0.name == made.name }
        }
        guard let row else { throw APIProblem.notFound("consumer of this name") }
        return .created("consumers", row.name, Self.json(row))
    }

    private func remove(_ call: APICall) async throws -> APIReply {
        try call.checkEvents()
        let name = try call.name("consumer")
        try await database.run { try await $0.dropConsumer(name) }
        return APIReply(.noContent)
    }

    private static func json(_ row: ConsumerRow) -> JSONValue {
        .members(
            ("name", .string(row.name)),
            ("kinds", .texts(row.kinds)),
            ("service", .text(row.service)),
            ("maxAgeSeconds", .integer(row.maxAgeSeconds)),
            ("maxBytes", .integer(row.maxBytes)),
            ("reader", .text(row.reader)),
            ("readAt", .time(row.readAt)),
            ("given", .integer(row.given)),
            ("behind", .boolean(row.isBehind)),
            ("lagSeconds", .double(row.lagSeconds)),
            ("lost", .integer(row.lost))
        )
    }
}

extension APICall {
    /// Refuses a query, and a key that is limited to applications.
    func checkEvents() throws(APIProblem) {
        var rest = query
        try rest.close()
        try requireAllApplications(ConsumerRoutes.subject)
    }
}
