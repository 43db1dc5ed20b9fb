import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/outcomes`: the outcome of each message.
///
/// Outcomes arrive in any order, and transactions may end in another order than they began. A client that read on after
/// the last outcome it has seen would miss some. So pages are ranges of message numbers, which are assigned in order
/// and never change. Each message is on exactly one page, whatever its outcome, and a page says whether it can still
/// change.
struct OutcomeRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 100
    private static let maxOfPage: Int32 = 1_000

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/outcomes",
                operation: "listOutcomes",
                summary: "The messages of a delivery by number, with the outcome of each",
                details:
                    "Pages are ranges of message numbers, not lists of outcomes. Pass `next` of one page as `after` of the following one; each message is then on exactly one page, including those without an outcome. A page with `final` true never changes, except for received and clicked; read other pages again later. `next` is null after the last message of a prepared delivery.",
                scope: .readDeliveries,
                parameters: [
                    APIRoute.idParameter,
                    .query(
                        "after",
                        #"{"type": "integer", "minimum": 0, "maximum": 2147483647, "default": 0}"#,
                        "Only messages with greater numbers."
                    ),
                    .query(
                        "limit",
                        #"{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}"#,
                        "The number of message numbers in a page."
                    ),
                    .query(
                        "status",
                        ##"{"$ref": "#/components/schemas/MessageStatus"}"##,
                        "Only messages with this status. Pages cover the same ranges, so a page may be empty."
                    ),
                ],
                answers: [200: "OutcomePage"],
                problems: [.notFound],
                handle: list
            )
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let after = query.integer("after", 0...Int32.max) ?? 0
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
        let word = query.text("status", as: .word)
        let status = word.flatMap(MessageStatus.init(name:))
        if word != nil, status == nil {
            query.note("status", "one of \(MessageStatus.allCases.map(\.name).joined(separator: ", ")) is expected")
        }
        try query.close()
        let id = try call.id("delivery")
        let (delivery, range, rows) = try await database.run { store in
            // The delivery is read first, so that all numbers it has by then exist when the messages are read.
            let delivery = try await store.apiDelivery(id, for: call)
            let range = try await store.outcomeRange(delivery: id, after: after, limit: limit)
            guard range.through > after else { return (delivery, range, [APIOutcome]()) }
            return (delivery, range, try await store.outcomes(delivery: id, sequences: after + 1...range.through))
        }
        let hasEnded = delivery.finishedAt != nil
        // The numbers of a prepared batch stay as they are. Those of a continuous delivery's day may have gaps, which can
        // be filled until it ends, and those of an experiment until it is prepared.
        let isFixed = hasEnded || delivery.kind == DeliveryBody.Kind.batch.rawValue && delivery.isPrepared
        let isComplete = isFixed || rows.count == Int(range.through) - Int(after)
        let isLast = isFixed && range.through >= range.highest
        let shown = rows.filter { status == nil || $0.row.status == status?.name }
        return APIReply(
            .ok,
            .members(
                ("deliveryId", .integer(id)),
                ("after", .integer(after)),
                ("through", .integer(range.through)),
                ("final", .boolean(isComplete && rows.allSatisfy { $0.row.status != MessageStatus.pending.name })),
                ("next", isLast ? .null : .integer(range.through)),
                ("outcomes", .array(shown.map(Self.json)))
            )
        )
    }

    private static func json(_ outcome: APIOutcome) -> JSONValue {
        let row = outcome.row
        return .members(
            ("sequence", .integer(row.sequence)),
            ("deviceId", .integer(row.subscriptionID)),
            ("status", .string(row.status)),
            ("httpStatus", row.httpStatus == 0 ? .null : .integer(row.httpStatus)),
            ("reason", .filledText(row.reason)),
            ("failureType", .text(row.failureType)),
            ("failureReason", .text(row.failureReason)),
            ("gatewayMessageId", .text(row.gatewayMessageID)),
            ("attempt", .integer(row.attempt)),
            ("loggedAt", .time(row.loggedAt)),
            ("received", .boolean(row.isReceived)),
            ("clicked", .boolean(row.isClicked)),
            ("seed", .boolean(outcome.isSeed))
        )
    }
}
