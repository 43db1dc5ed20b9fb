import HTTPTypes
import PushCore
import Store

/// `/deliveries`: create, control and read deliveries.
struct DeliveryRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 20
    private static let maxOfPage: Int32 = 100

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries",
                operation: "createDelivery",
                summary: "Create a delivery; nothing is sent before its start",
                details:
                    "Its target is all subscribers of its applications, those selected by the filter, or with explicitTargets those added with addTargets. A continuous delivery has no target: single messages are sent with it.",
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
                    "Pass `next` of one page as `before` of the following one. Deliveries created meanwhile are on no page.",
                scope: .readDeliveries,
                parameters: [
                    .query(
                        "before",
                        #"{"type": "integer", "format": "int64", "minimum": 1}"#,
                        "Only deliveries with smaller ids."
                    ),
                    .query("limit", #"{"type": "integer", "minimum": 1, "maximum": 100, "default": 20}"#, "Page size."),
                    .query(
                        "archived",
                        #"{"type": "string", "enum": ["without", "with"], "default": "without"}"#,
                        "Whether archived deliveries are on the pages."
                    ),
                ],
                answers: [200: "DeliveryList"],
                handle: list
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}",
                operation: "readDelivery",
                summary: "The state and counts of a delivery, in one snapshot",
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
            APIRoute(
                method: .patch,
                path: "/deliveries/{id}",
                operation: "updateDelivery",
                summary: "Change a delivery that has sent nothing",
                details:
                    "Only what is named changes. The content is replaced as a whole, and so is the list of exclusion lists; an empty filter or list means none. An analysis is dropped if its messages change. A delivery that has begun is refused with 409: change a copy of it.",
                scope: .writeDeliveries,
                body: .required(schema: "DeliveryChanges"),
                parameters: [APIRoute.idParameter],
                answers: [200: "Delivery"],
                problems: [.notFound, .conflict],
                handle: update
            ),
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/copy",
                operation: "copyDelivery",
                summary: "Create a delivery with the content, target, settings and rate of another one",
                details:
                    "The original may be in any state. Its targets and exclusions are copied as far as they are still kept.",
                scope: .writeDeliveries,
                body: .optional(schema: "DeliveryCopy"),
                parameters: [APIRoute.idParameter],
                answers: [201: "Delivery"],
                problems: [.notFound, .conflict],
                handle: duplicate
            ),
            control(
                "reschedule",
                "Move the start of a delivery that has not begun, or take it back",
                body: .required(schema: "Reschedule")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let moment = reader.momentOrNull("startAt", required: true)
                try reader.close()
                try await store.rescheduleDelivery(id, to: moment)
            },
            control("pause", "Pause a delivery: no further messages are sent") { store, id, _ in
                try await store.pauseDelivery(id)
            },
            control("resume", "Resume a paused delivery where it stopped") { store, id, _ in
                try await store.resumeDelivery(id)
            },
            control("stop", "Stop a delivery permanently: unsent messages are canceled") { store, id, _ in
                try await store.stopDelivery(id)
            },
            control("archive", "Hide a delivery that has ended from lists; nothing else changes") { store, id, _ in
                try await store.archiveDelivery(id)
            },
            control("unarchive", "Show an archived delivery in lists again") { store, id, _ in
                try await store.archiveDelivery(id, false)
            },
            control(
                "rate",
                "Limit how many messages of a delivery are sent a second, or remove the limit",
                body: .optional(schema: "Rate")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let rate = reader.number(.rate)
                try reader.close()
                try await store.setDeliveryRate(id, messagesPerSecond: rate)
            },
            control(
                "follow",
                "Let the rate of a delivery follow a health signal, or end that",
                body: .optional(schema: "Follow")
            ) { store, id, call in
                let follow = try FollowBody(call.body)
                if let signal = follow.signal {
                    try await store.followSignal(
                        id,
                        signal,
                        target: follow.target,
                        floor: follow.floor,
                        ceiling: follow.ceiling
                    )
                } else {
                    try await store.leaveSignal(id)
                }
            },
            control(
                "seeds",
                "Choose, before its start, which seed addresses get a delivery in addition to its target",
                body: .optional(schema: "DeliverySeeds")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let names = reader.textList("seeds", 0...JSONReader.maxNames, as: .name)
                try reader.close()
                try await store.setSeeds(ofDelivery: id, names)
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
                let id = try call.delivery()
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
            try await store.requireFilter(given.filter)
            try await store.requireApplications(given.delivery.applications, for: call)
            let id = try await store.createDelivery(
                given.delivery,
                isContinuous: given.isContinuous,
                filter: given.filter,
                exclude: given.exclude,
                audience: given.audience
            )
            return try await store.apiDelivery(id, for: call)
        }
        var reply = APIReply(.created, DeliveryJSON.json(row))
        reply.headers[.location] = "\(WebAPI.base)/deliveries/\(row.id)"
        return reply
    }

    private func update(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let changes = try DeliveryChangeBody(call.body).changes
        let row = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            try await store.requireFilter(changes.filter)
            try await store.updateDelivery(id, changes)
            return try await store.apiDelivery(id, for: call)
        }
        return APIReply(.ok, DeliveryJSON.json(row))
    }

    private func duplicate(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        var reader = JSONReader(call.body)
        let label = reader.changedLabel()
        try reader.close()
        let row = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.apiDelivery(try await store.copyDelivery(id, label: label), for: call)
        }
        return .created("deliveries", String(row.id), DeliveryJSON.json(row))
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let before = query.integer("before", 1...Int64.max)
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
        let archived = query.text("archived", as: .word)
        if let archived, !["with", "without"].contains(archived) {
            query.note("archived", "one of with, without is expected")
        }
        try query.close()
        let rows = try await database.run {
            try await $0.apiDeliveries(
                ids: 0...(before.map { $0 - 1 } ?? .max),
                applications: call.applications,
                limit: limit,
                withArchived: archived == "with"
            )
        }
        let next = rows.count == Int(limit) ? rows.last.map { JSONValue.integer($0.id) } : nil
        return APIReply(.ok, .members(("deliveries", .array(rows.map(DeliveryJSON.json))), ("next", next ?? .null)))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let row = try await database.run { try await $0.apiDelivery(id, for: call) }
        return APIReply(.ok, DeliveryJSON.json(row))
    }
}

extension Store {
    /// A delivery, if the request's key allows it; throws ``APIProblem`` otherwise.
    func apiDelivery(_ id: Int64, for call: APICall) async throws -> APIDeliveryRow {
        guard let row = try await apiDeliveries(ids: id...id, applications: call.applications, limit: 1).first else {
            throw APIProblem.notFound("delivery \(id)")
        }
        return row
    }
}

extension APIDatabase {
    /// Works on the delivery in the path of a call that takes no query, if the key allows it.
    func withDelivery<Value: Sendable>(
        of call: APICall,
        _ work: @escaping @Sendable (Store, Int64) async throws -> Value
    ) async throws(APIProblem) -> Value {
        let id = try call.delivery()
        return try await run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await work(store, id)
        }
    }
}

/// The body of startDelivery.
struct StartBody: Sendable {
    /// The start time in RFC 3339 format; nil for now.
    let startAt: String?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        startAt = reader.momentOrNull("startAt")
        try reader.close()
    }
}
