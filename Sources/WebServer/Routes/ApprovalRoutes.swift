import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/approve`, `/reject` and `/approval`: the approval of deliveries above a size by somebody who did
/// not make them.
struct ApprovalRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/request-approval",
                operation: "requestApproval",
                summary: "Request the approval of a delivery, and say when it starts then",
                details:
                    "It is analysed if it was not, and then waits as pending. Once another person has approved it, it starts at startAt, or at once if that is over or was not given. If it turns out to need no approval, it starts without one.",
                scope: .writeDeliveries,
                body: .optional(schema: "RequestApproval"),
                parameters: [APIRoute.idParameter],
                answers: [200: "DeliveryApproval"],
                problems: [.notFound, .conflict],
                handle: request
            ),
            decision(
                "approve",
                "Approve an analysed or scheduled delivery as it is",
                "It holds for the content, target, settings, start and counted size of now, or only for the version that was looked at. Any change ends it. A key cannot approve what it made, nor what another login of the same person made.",
                body: .optional(schema: "Approve")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let comment = reader.text("comment", as: .words)
                let moment = reader.momentOrNull("startAt")
                let version = reader.text("version", as: .version)
                try reader.close()
                try await store.approveDelivery(id, comment: comment ?? "", startAt: moment, expected: version)
            },
            decision(
                "reject",
                "Return an analysed or scheduled delivery to its author",
                "It is editing again, with the reason as stateReason.",
                body: .required(schema: "Reject")
            ) { store, id, call in
                var reader = JSONReader(call.body)
                let reason = reader.text("reason", required: true, as: .words, mayBeEmpty: false)
                try reader.close()
                try await store.rejectDelivery(id, reason: reason ?? "")
            },
            APIRoute(
                method: .delete,
                path: "/deliveries/{id}/approval",
                operation: "withdrawApproval",
                summary: "End the approval of a delivery that has not begun",
                details: "A scheduled delivery then waits for another approval.",
                scope: .approveDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "DeliveryApproval"],
                problems: [.notFound, .conflict],
                handle: withdraw
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/approval",
                operation: "readApproval",
                summary: "Whether a delivery needs an approval, and the one that it has",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "DeliveryApproval"],
                problems: [.notFound],
                handle: read
            ),
        ]
    }

    private func decision(
        _ verb: String,
        _ summary: String,
        _ details: String,
        body: APIRoute.Body,
        _ act: @escaping @Sendable (Store, Int64, APICall) async throws -> Void
    ) -> APIRoute {
        APIRoute(
            method: .post,
            path: "/deliveries/{id}/\(verb)",
            operation: "\(verb)Delivery",
            summary: summary,
            details: details,
            scope: .approveDeliveries,
            body: body,
            parameters: [APIRoute.idParameter],
            answers: [200: "DeliveryApproval"],
            problems: [.notFound, .conflict],
            handle: { call in
                let id = try call.delivery()
                let approval = try await database.run { store in
                    _ = try await store.apiDelivery(id, for: call)
                    try await act(store, id, call)
                    return try await store.approval(ofDelivery: id)
                }
                return APIReply(.ok, Self.json(id, approval))
            }
        )
    }

    private func request(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let moment = try StartBody(call.body).startAt
        let approval = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            try await store.requestApproval(ofDelivery: id, startAt: moment)
            return try await store.approval(ofDelivery: id)
        }
        return APIReply(.ok, Self.json(id, approval))
    }

    private func withdraw(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let approval = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            try await store.withdrawApproval(ofDelivery: id, reason: "")
            return try await store.approval(ofDelivery: id)
        }
        return APIReply(.ok, Self.json(id, approval))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let approval = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.approval(ofDelivery: id)
        }
        return APIReply(.ok, Self.json(id, approval))
    }

    private static func json(_ id: Int64, _ approval: DeliveryApproval) -> JSONValue {
        .members(
            ("deliveryId", .integer(id)),
            ("above", approval.above.map { JSONValue.integer($0) } ?? .null),
            ("messages", approval.messages.map { JSONValue.integer($0) } ?? .null),
            ("awaited", .boolean(approval.isAwaited)),
            ("objection", .filledText(approval.objection)),
            ("makers", .texts(approval.makers)),
            ("version", .string(approval.version)),
            ("approval", approval.given.map { json($0) } ?? .null),
            ("request", approval.requested.map { json($0) } ?? .null),
            ("startsApproved", .boolean(approval.startsApproved)),
            ("startAt", .time(approval.startsAt))
        )
    }

    private static func json(_ request: DeliveryApproval.Request) -> JSONValue {
        .members(("by", .string(request.by)), ("at", .time(request.at)))
    }

    private static func json(_ given: DeliveryApproval.Given) -> JSONValue {
        .members(
            ("by", .string(given.by)),
            ("at", .time(given.at)),
            ("messages", .integer(given.messages)),
            ("startAt", .time(given.startAt)),
            ("comment", .filledText(given.comment))
        )
    }
}
