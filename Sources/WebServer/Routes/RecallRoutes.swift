import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/recall`: take back a delivery, and read what became of its messages.
struct RecallRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/recall",
                operation: "recallDelivery",
                summary: "Recall a delivery: stop what has not left, replace or remove what was sent",
                details:
                    "What has not left stops within a second. With mode replace, a second delivery sends the content under the same collapse id or tag. With mode remove, it asks apps with our SDKs to remove the notification. It goes to those who may have seen the message and have not opened it. Once it has ended, the delivery can be recalled again with replace or remove; the report then counts the present second delivery.",
                scope: .writeDeliveries,
                body: .required(schema: "Recall"),
                parameters: [APIRoute.idParameter],
                answers: [200: "RecallReport"],
                problems: [.notFound, .conflict],
                handle: recall
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/recall",
                operation: "readRecall",
                summary: "What became of the messages of a recalled delivery",
                details:
                    "The numbers are counted from the outcomes of both deliveries. target is the sum of pending, unsent, replaced, removed, unreached and tooLate.",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "RecallReport"],
                problems: [.notFound],
                handle: read
            ),
        ]
    }

    private func recall(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        var reader = JSONReader(call.body)
        let reason = reader.text("reason", required: true, as: .words, mayBeEmpty: false)
        let mode = reader.choice("mode", of: RecallMode.self)
        let content = reader.object("content")
        try reader.close()
        let report = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            try await store.recallDelivery(
                id,
                reason: reason ?? "",
                mode: mode ?? .stop,
                content: content?.compactText
            )
            return try await store.recallReport(ofDelivery: id)
        }
        return APIReply(.ok, try Self.json(id, report))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let report = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.recallReport(ofDelivery: id)
        }
        return APIReply(.ok, try Self.json(id, report))
    }

    private static func json(_ id: Int64, _ report: RecallReport?) throws(APIProblem) -> JSONValue {
        guard let report else { throw .notFound("recall of delivery \(id)") }
        return .members(
            ("deliveryId", .integer(id)),
            ("mode", .string(report.mode.rawValue)),
            ("reason", .string(report.reason)),
            ("recalledBy", .string(report.recalledBy)),
            ("recalledAt", .time(report.recalledAt)),
            ("recallDeliveryId", report.child.map { JSONValue.integer($0) } ?? .null),
            ("recallState", .text(report.childState?.rawValue)),
            ("target", .integer(report.target)),
            ("pending", .integer(report.pending)),
            ("unsent", .integer(report.unsent)),
            ("replaced", .integer(report.replaced)),
            ("removed", .integer(report.removed)),
            ("unreached", .integer(report.unreached)),
            ("tooLate", .integer(report.tooLate))
        )
    }
}
