import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/recurrence`: when a delivery recurs, and its runs.
struct RecurrenceRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .put,
                path: "/deliveries/{id}/recurrence",
                operation: "setRecurrence",
                summary: "Say when a delivery recurs",
                details:
                    "The rule is replaced as a whole. Nothing is sent before startRecurrence; a recurrence that is active goes on with the new rule. Each run is a delivery of its own, with the content and the target of its moment. Around a change of the clock, a local time that is skipped is read with the offset before it, and of one that occurs twice the first is meant. A month without a day has no run on it; -1 is the last day of each month.",
                scope: .writeDeliveries,
                body: .required(schema: "RecurrenceRule"),
                parameters: [APIRoute.idParameter],
                answers: [200: "Recurrence"],
                problems: [.notFound, .conflict],
                handle: set
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/recurrence",
                operation: "readRecurrence",
                summary: "When a delivery recurs, its next moments and its last runs",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "Recurrence"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .delete,
                path: "/deliveries/{id}/recurrence",
                operation: "removeRecurrence",
                summary: "Make a recurring delivery an ordinary one",
                details: "It can then be started. Its runs stay.",
                scope: .writeDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [204: ""],
                problems: [.notFound, .conflict],
                handle: remove
            ),
            control("start", "Start or continue the recurrence of a delivery") {
                _ = try await $0.startRecurrence($1)
            },
            control("pause", "Make no further runs of a delivery; a run under way goes on") {
                try await $0.pauseRecurrence($1)
            },
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/recurrence/run",
                operation: "runRecurrence",
                summary: "Make a run of a recurring delivery now",
                details:
                    "The planned moments stay as they are. It is refused with 409 while the run before has not ended.",
                scope: .writeDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [201: "Delivery"],
                problems: [.notFound, .conflict],
                handle: run
            ),
        ]
    }

    private func control(
        _ verb: String,
        _ summary: String,
        _ act: @escaping @Sendable (Store, Int64) async throws -> Void
    ) -> APIRoute {
        APIRoute(
            method: .post,
            path: "/deliveries/{id}/recurrence/\(verb)",
            operation: "\(verb)Recurrence",
            summary: summary,
            scope: .writeDeliveries,
            parameters: [APIRoute.idParameter],
            answers: [200: "Recurrence"],
            problems: [.notFound, .conflict],
            handle: { call in
                let json = try await database.withDelivery(of: call) { store, id in
                    try await act(store, id)
                    return try await Self.recurrence(id, store)
                }
                return APIReply(.ok, json)
            }
        )
    }

    private func set(_ call: APICall) async throws -> APIReply {
        let rule = try RecurrenceBody(call.body).rule
        let json = try await database.withDelivery(of: call) { store, id in
            try await store.setRecurrence(id, rule)
            return try await Self.recurrence(id, store)
        }
        return APIReply(.ok, json)
    }

    private func read(_ call: APICall) async throws -> APIReply {
        APIReply(.ok, try await database.withDelivery(of: call) { try await Self.recurrence($1, $0) })
    }

    private func remove(_ call: APICall) async throws -> APIReply {
        try await database.withDelivery(of: call) { try await $0.removeRecurrence($1) }
        return APIReply(.noContent)
    }

    private func run(_ call: APICall) async throws -> APIReply {
        let row = try await database.withDelivery(of: call) { store, id in
            try await store.apiDelivery(try await store.runRecurrence(id), for: call)
        }
        return .created("deliveries", String(row.id), DeliveryJSON.json(row))
    }

    private static func recurrence(_ id: Int64, _ store: Store) async throws -> JSONValue {
        guard let row = try await store.recurrence(ofDelivery: id) else {
            throw APIProblem.notFound("recurrence of delivery \(id)")
        }
        return json(row, try await store.nextRuns(ofDelivery: id), try await store.recurrenceRuns(ofDelivery: id))
    }

    private static func json(_ row: RecurrenceRow, _ next: [DatabaseTime], _ runs: [RecurrenceRunRow]) -> JSONValue {
        .members(
            ("deliveryId", .integer(row.deliveryID)),
            ("state", .string(row.state.rawValue)),
            ("reason", .filledText(row.reason)),
            ("unit", .string(row.rule.unit.rawValue)),
            ("every", .integer(row.rule.every)),
            ("times", .texts(row.rule.times ?? [])),
            ("timeZone", .string(row.rule.timeZone)),
            ("weekdays", integers(row.rule.weekdays)),
            ("monthDays", integers(row.rule.monthDays)),
            ("startsOn", .text(row.rule.startsOn)),
            ("endsOn", .text(row.rule.endsOn)),
            ("exceptDates", .texts(row.rule.exceptDates)),
            ("missed", .string(row.rule.missed.rawValue)),
            ("waitsFor", row.waitsFor.map { JSONValue.integer($0) } ?? .null),
            ("nextRuns", .array(next.map { JSONValue.time($0) })),
            ("runs", .array(runs.map(runJSON)))
        )
    }

    private static func integers(_ numbers: [Int32]?) -> JSONValue {
        .array((numbers ?? []).map { JSONValue.integer($0) })
    }

    private static func runJSON(_ run: RecurrenceRunRow) -> JSONValue {
        .members(
            ("plannedAt", .time(run.plannedAt)),
            ("notedAt", .time(run.notedAt)),
            ("outcome", .string(run.outcome.rawValue)),
            ("reason", .filledText(run.reason)),
            ("runId", run.runID.map { JSONValue.integer($0) } ?? .null),
            ("runState", .text(run.runState?.rawValue)),
            ("target", run.target.map { JSONValue.integer($0) } ?? .null)
        )
    }
}
