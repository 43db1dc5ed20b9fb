import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/comparison`: a delivery beside another one.
struct ComparisonRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/comparison",
                operation: "compareDeliveries",
                summary: "A delivery beside another one",
                details:
                    "Shares of the messages of both, with the difference and its 95 percent interval. The two went to different people at different times: an experiment shows what comes from the content.",
                scope: .readDeliveries,
                parameters: [
                    APIRoute.idParameter,
                    .query(
                        "with",
                        #"{"type": "integer", "format": "int64", "minimum": 1}"#,
                        "The id of the other delivery.",
                        required: true
                    ),
                ],
                answers: [200: "DeliveryComparison"],
                problems: [.notFound],
                handle: compare
            )
        ]
    }

    private func compare(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let other = query.integer("with", 1...Int64.max)
        if other == nil, query.faults.isEmpty { query.note("with", "the id of a delivery is expected") }
        try query.close()
        let id = try call.id("delivery")
        let with = other ?? id
        let rows = try await database.run { store in
            for one in [id, with] { _ = try await store.apiDelivery(one, for: call) }
            return try await store.compareDeliveries(id, with)
        }
        return APIReply(
            .ok,
            .members(
                ("deliveryId", .integer(id)),
                ("withDeliveryId", .integer(with)),
                ("measures", .array(rows.map(Self.json)))
            )
        )
    }

    private static func json(_ row: DeliveryComparison) -> JSONValue {
        .members(
            ("measure", .string(row.measure.rawValue)),
            ("count", .integer(row.first.count)),
            ("of", .integer(row.first.whole)),
            ("rate", number(row.first.rate)),
            ("withCount", .integer(row.second.count)),
            ("withOf", .integer(row.second.whole)),
            ("withRate", number(row.second.rate)),
            ("difference", number(row.difference)),
            ("low", number(row.low)),
            ("high", number(row.high)),
            ("clear", .boolean(row.isClear))
        )
    }

    private static func number(_ value: Double?) -> JSONValue { value.map(JSONValue.double) ?? .null }
}
