import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/outcomes`: what became of each message.
///
/// Outcomes come in any order, and transactions end in another order than they began: who read on behind the last outcome that
/// he saw would miss some. So pages are ranges of the messages' numbers, which are given in order and never change: each
/// message is on exactly one page, whatever became of it, and a page says whether it can still change.
struct OutcomeRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 100
    private static let mostOfPage: Int32 = 1_000

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/outcomes",
                operation: "listOutcomes",
                summary: "The messages of a delivery by their numbers, with what became of each",
                details:
                    "Pages are ranges of message numbers, not lists of outcomes: give `next` of one page as `after` of the following one, and each message is on exactly one page, those without an outcome included. A page with `final` true will never change but for received and clicked; read the others again later. `next` is null behind the last message of a delivery that is prepared.",
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
                        "How many numbers a page has."
                    ),
                    .query(
                        "status",
                        ##"{"$ref": "#/components/schemas/MessageStatus"}"##,
                        "Leaves out the others; pages stay the same ranges, so one may be empty."
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
        let limit = query.integer("limit", 1...Self.mostOfPage) ?? Self.usualPage
        let word = query.text("status", most: 20)
        let status = word.flatMap(MessageStatus.init(name:))
        if word != nil, status == nil {
            query.note("status", "one of \(MessageStatus.allCases.map(\.name).joined(separator: ", ")) is expected")
        }
        try query.close()
        let id = try call.id("delivery")
        let (delivery, highest, rows) = try await database.run { store in
            // The delivery first: numbers that it has by now are all there when the messages are read.
            let delivery = try await store.apiDelivery(id, for: call)
            let highest =
                delivery.kind == DeliveryBody.Kind.continuous.rawValue
                ? Int64(try await store.highestMessageNumber(delivery: id)) : delivery.counts.target
            guard let through = Self.through(after, limit, highest) else { return (delivery, highest, [OutcomeRow]()) }
            return (delivery, highest, try await store.outcomes(delivery: id, sequences: after &+ 1...through))
        }
        let through = Self.through(after, limit, highest) ?? after
        let hasEnded = delivery.finishedAt != nil
        // The numbers of a batch have no gaps; those of a continuous delivery's day have, which may be filled while it is open.
        let isBatch = delivery.kind == DeliveryBody.Kind.batch.rawValue
        let isComplete = hasEnded || rows.count == Int(through) - Int(after)
        let isLast = delivery.isPrepared && Int64(through) >= highest && (isBatch || hasEnded)
        let shown = rows.filter { status == nil || $0.status == status?.name }
        return APIReply(
            .ok,
            .members(
                ("deliveryId", .integer(id)),
                ("after", .integer(after)),
                ("through", .integer(through)),
                ("final", .boolean(isComplete && rows.allSatisfy { $0.status != MessageStatus.pending.name })),
                ("next", isLast ? .null : .integer(through)),
                ("outcomes", .array(shown.map(Self.json)))
            )
        )
    }

    /// The last number of a page; nil if the delivery has none behind its beginning.
    private static func through(_ after: Int32, _ limit: Int32, _ highest: Int64) -> Int32? {
        let through = min(Int64(after) + Int64(limit), highest, Int64(Int32.max))
        return through > Int64(after) ? Int32(clamping: through) : nil
    }

    private static func json(_ row: OutcomeRow) -> JSONValue {
        .members(
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
            ("seed", .boolean(row.isSeed))
        )
    }
}
