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
            control(
                "rate",
                "Limit how many messages of a delivery leave a second, or take the limit away",
                body: .optional(schema: "Rate")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let rate = reader.number("messagesPerSecond", DeliveryLimits.rates)
                try reader.close()
                try await store.setDeliveryRate(id, messagesPerSecond: rate)
            },
            control(
                "seeds",
                "Say, before its start, which seed addresses get a delivery beside its target",
                body: .optional(schema: "DeliverySeeds")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let names = reader.textList("seeds", 0...JSONReader.mostNames, most: JSONReader.longestName)
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

/// The body of a delivery's creation.
struct DeliveryBody: Sendable {
    enum Kind: String, CaseIterable {
        case batch, continuous
    }

    private enum Policy: String, CaseIterable {
        case resend, report
    }

    let delivery: NewDelivery
    let isContinuous: Bool
    let filter: String?
    let exclude: [String]?

    /// A character has at most four bytes.
    private static let mostLabelBytes = 4 * NameRule.longestLabel

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let label = reader.text("label", required: true, most: Self.mostLabelBytes, mayBeEmpty: false) ?? ""
        if let problem = NameRule.problem(label: label) { reader.note("label", "it \(problem)") }
        let applications =
            reader.textList(
                "applications",
                required: true,
                1...JSONReader.mostNames,
                most: JSONReader.longestName
            ) ?? []
        let content = reader.object("content", required: true)?.compactText ?? "{}"
        var delivery = NewDelivery(label: label, applications: applications, content: content)
        let kind = reader.choice("kind", of: Kind.self) ?? .batch
        isContinuous = kind == .continuous
        delivery.explicitTargets = reader.flag("explicitTargets") ?? false
        delivery.isOneTimeCode = reader.flag("oneTimeCode") ?? false
        delivery.onePerUser = reader.flag("onePerUser") ?? false
        delivery.priority = reader.integer("priority", -100...100) ?? delivery.priority
        delivery.validitySeconds =
            reader.integer("validitySeconds", 1...DeliveryLimits.longestValidity) ?? delivery.validitySeconds
        delivery.maxRetries = reader.integer("maxRetries", 0...1_000) ?? delivery.maxRetries
        delivery.retryPeriodSeconds = reader.integer("retryPeriodSeconds", 1...31_536_000)
        delivery.messagesPerSecond = reader.number("messagesPerSecond", DeliveryLimits.rates)
        delivery.retrySchedule = reader.choice("retrySchedule", of: RetryPolicy.ScheduleSetting.self) ?? .byKind
        switch reader.choice("ambiguityPolicy", of: Policy.self) {
        case .report: delivery.ambiguityPolicy = .report
        case .resend: delivery.ambiguityPolicy = .resend
        case nil: break
        }
        filter = reader.filter()
        exclude = reader.nameList("exclude")
        if isContinuous, delivery.explicitTargets || filter != nil || exclude != nil {
            reader.note("kind", "a continuous delivery has no target, so neither explicitTargets, filter nor exclude")
        }
        if delivery.explicitTargets, filter != nil {
            reader.note("filter", "explicit targets are not chosen by a filter")
        }
        self.delivery = delivery
        var faults = reader.finish()
        if faults.isEmpty { faults = APIProblem.faults(inContent: content) }
        if !faults.isEmpty { throw .invalid(faults) }
    }
}

/// The body of a delivery's start.
struct StartBody: Sendable {
    /// When it is to start, an RFC 3339 text; nil: now.
    let startAt: String?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        startAt = reader.textOrNull("startAt", most: 40)
        if let startAt, !Self.isMoment(startAt) {
            reader.note("startAt", "a moment as in 2026-11-21T18:00:00Z is expected")
        }
        try reader.close()
    }

    /// Whether a text is a moment of RFC 3339; whether there is such a day the database says. It understands other words too, which
    /// nobody should get used to.
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

enum DeliveryJSON {
    static func json(_ row: APIDeliveryRow) -> JSONValue {
        .members(
            ("id", .integer(row.id)),
            ("label", .string(row.label)),
            ("kind", .string(row.kind)),
            ("parentId", row.parentID.map { JSONValue.integer($0) } ?? .null),
            ("state", .string(row.state.rawValue)),
            ("stateReason", .filledText(row.stateReason)),
            ("applications", .texts(row.applications)),
            ("priority", .integer(row.priority)),
            ("counts", counts(row.counts)),
            ("oneTimeCode", .boolean(row.isOneTimeCode)),
            ("prepared", .boolean(row.isPrepared)),
            ("createdAt", .time(row.createdAt)),
            ("startAt", .time(row.startAt)),
            ("startedAt", .time(row.startedAt)),
            ("finishedAt", .time(row.finishedAt)),
            ("validUntil", .time(row.validUntil)),
            ("asOf", .time(row.asOf))
        )
    }

    private static func counts(_ counts: APIDeliveryRow.Counts) -> JSONValue {
        .members(
            ("target", .integer(counts.target)),
            ("pending", .integer(counts.pending)),
            ("sent", .integer(counts.sent)),
            ("failed", .integer(counts.failed)),
            ("ignored", .integer(counts.ignored)),
            ("notApplicable", .integer(counts.notApplicable)),
            ("canceled", .integer(counts.canceled)),
            ("unknown", .integer(counts.unknown)),
            ("excluded", .integer(counts.excluded)),
            ("seeds", .integer(counts.seeds))
        )
    }
}
