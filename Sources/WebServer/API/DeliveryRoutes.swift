import HTTPTypes
import PushCore
import Store

/// `/deliveries`: creates and controls them, and says how they are.
struct DeliveryRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 20
    private static let mostOfPage: Int32 = 100

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries",
                operation: "createDelivery",
                summary: "Create a delivery; nothing is sent before its start",
                details:
                    "Its target is all subscribers of its applications, those of them whom the filter chooses, or with explicitTargets those that are added with addTargets. A continuous delivery has no target: it is what single messages are sent with.",
                scope: .writeDeliveries,
                body: .required(schema: "NewDelivery"),
                answers: [201: "Delivery"],
                problems: [.notFound, .conflict],
                handle: create
            ),
            APIRoute(
                method: .get,
                path: "/deliveries",
                operation: "listDeliveries",
                summary: "Deliveries, newest first",
                details:
                    "Give `next` of one page as `before` of the following one. What is created while you page is on none of them.",
                scope: .readDeliveries,
                parameters: [
                    .query(
                        "before",
                        #"{"type": "integer", "format": "int64", "minimum": 1}"#,
                        "Only those with smaller ids."
                    ),
                    .query("limit", #"{"type": "integer", "minimum": 1, "maximum": 100, "default": 20}"#, "How many."),
                ],
                answers: [200: "DeliveryList"],
                handle: list
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}",
                operation: "readDelivery",
                summary: "A delivery: its state and its counts in one snapshot",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "Delivery"],
                problems: [.notFound],
                handle: read
            ),
            control("start", "Start a delivery, now or at a time", body: .optional(schema: "Start")) {
                store,
                id,
                call in
                if let moment = try StartBody(call.body).startAt {
                    try await store.startDelivery(id, at: moment)
                } else {
                    try await store.startDelivery(id)
                }
            },
            control("pause", "Hold a delivery back: nothing new leaves") { store, id, _ in
                try await store.pauseDelivery(id)
            },
            control("resume", "Let a paused delivery go on where it was") { store, id, _ in
                try await store.resumeDelivery(id)
            },
            control("stop", "End a delivery for good: what has not left is canceled") { store, id, _ in
                try await store.stopDelivery(id)
            },
        ]
    }

    private func control(
        _ verb: String,
        _ summary: String,
        body: APIRoute.Body = .none,
        _ act: @escaping @Sendable (Store, Int64, APICall) async throws -> Void
    ) -> APIRoute {
        APIRoute(
            method: .post,
            path: "/deliveries/{id}/\(verb)",
            operation: "\(verb)Delivery",
            summary: summary,
            scope: .writeDeliveries,
            body: body,
            parameters: [APIRoute.idParameter],
            answers: [200: "Delivery"],
            problems: [.notFound, .conflict],
            handle: { call in
                var query = call.query
                try query.close()
                let id = try call.id("delivery")
                let row = try await database.run { store in
                    _ = try await store.apiDelivery(id, for: call)
                    try await act(store, id, call)
                    return try await store.apiDelivery(id, for: call)
                }
                return APIReply(.ok, DeliveryJSON.json(row))
            }
        )
    }

    private func create(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let given = try DeliveryBody(call.body)
        let row = try await database.run { store in
            if call.applications != nil {
                let known = try await store.apiApplications().filter { call.allows($0.id) }.map(\.name)
                if let missing = given.delivery.applications.first(where: { !known.contains($0) }) {
                    throw APIProblem.notFound("application “\(missing)”")
                }
            }
            let id = try await store.createDelivery(
                given.delivery,
                isContinuous: given.isContinuous,
                filter: given.filter,
                exclude: given.exclude
            )
            return try await store.apiDelivery(id, for: call)
        }
        var reply = APIReply(.created, DeliveryJSON.json(row))
        reply.headers[.location] = "\(WebAPI.base)/deliveries/\(row.id)"
        return reply
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let before = query.integer("before", 1...Int64.max)
        let limit = query.integer("limit", 1...Self.mostOfPage) ?? Self.usualPage
        try query.close()
        let rows = try await database.run {
            try await $0.apiDeliveries(
                ids: 0...(before.map { $0 - 1 } ?? .max),
                applications: call.applications,
                limit: limit
            )
        }
        let next = rows.count == Int(limit) ? rows.last.map { JSONValue.integer($0.id) } : nil
        return APIReply(.ok, .members(("deliveries", .array(rows.map(DeliveryJSON.json))), ("next", next ?? .null)))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = try call.id("delivery")
        let row = try await database.run { try await $0.apiDelivery(id, for: call) }
        return APIReply(.ok, DeliveryJSON.json(row))
    }
}

extension Store {
    /// A delivery, if it is one for the key of a request; throws ``APIProblem`` otherwise.
    func apiDelivery(_ id: Int64, for call: APICall) async throws -> APIDeliveryRow {
        guard let row = try await apiDeliveries(ids: id...id, applications: call.applications, limit: 1).first else {
            throw APIProblem.notFound("delivery \(id)")
        }
        return row
    }
}
