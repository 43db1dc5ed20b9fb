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
            control("pause", "Pause a delivery: no further messages are sent") { store, id, _ in
                try await store.pauseDelivery(id)
            },
            control("resume", "Resume a paused delivery where it stopped") { store, id, _ in
                try await store.resumeDelivery(id)
            },
            control("stop", "Stop a delivery permanently: unsent messages are canceled") { store, id, _ in
                try await store.stopDelivery(id)
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
            try await store.requireFilter(given.filter)
            try await store.requireApplications(given.delivery.applications, for: call)
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
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
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
    /// A delivery, if the request's key allows it; throws ``APIProblem`` otherwise.
    func apiDelivery(_ id: Int64, for call: APICall) async throws -> APIDeliveryRow {
        guard let row = try await apiDeliveries(ids: id...id, applications: call.applications, limit: 1).first else {
            throw APIProblem.notFound("delivery \(id)")
        }
        return row
    }
}

/// The body of startDelivery.
struct StartBody: Sendable {
    /// The start time in RFC 3339 format; nil for now.
    let startAt: String?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        startAt = reader.textOrNull("startAt", as: .moment)
        if let startAt, !Self.isMoment(startAt) {
            reader.note("startAt", "a time such as 2026-11-21T18:00:00Z is expected")
        }
        try reader.close()
    }

    /// Whether a text is in RFC 3339 format. The database checks whether the day exists. It also accepts other formats,
    /// on which clients should not rely.
    private static func isMoment(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func take(_ form: String) -> Bool {
            for wanted in form.utf8 {
                guard let byte = rest.first else { return false }
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                guard wanted == UInt8(ascii: "0") ? isDigit : byte == wanted else { return false }
                rest.removeFirst()
            }
            return true
        }
        guard take("0000-00-00T00:00:00") else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...6).contains(digits.count) else { return false }
            rest = rest.dropFirst(digits.count)
        }
        if rest.elementsEqual("Z".utf8) { return true }
        guard rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") else { return false }
        rest.removeFirst()
        return take("00:00") && rest.isEmpty
    }
}
