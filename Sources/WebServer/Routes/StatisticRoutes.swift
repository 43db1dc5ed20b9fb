import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/statistics`: counts of a delivery's outcomes, receipts and clicks.
struct StatisticRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 100
    private static let maxOfPage: Int32 = 1_000

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/statistics",
                operation: "readStatistics",
                summary: "The counts of a delivery's outcomes, receipts and clicks",
                details:
                    "Outcomes are counted when their part of the delivery is finished, receipts and clicks within seconds. complete means that all outcomes are counted; receipts and clicks may still arrive. Each day of a continuous delivery is a separate delivery, and so is a proof.",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "Statistics"],
                problems: [.notFound],
                handle: read
            ),
            part(.hour, "hours", "by hour, in UTC", "HourStatistics") { ("hour", .time($0.hour)) },
            part(.application, "applications", "by application", "ApplicationStatistics") {
                ("application", .filledText($0.name))
            },
            part(.version, "versions", "by app version", "VersionStatistics") {
                ("version", .filledText($0.name))
            },
            part(.locale, "locales", "by device language", "LocaleStatistics") {
                ("locale", .filledText($0.name))
            },
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/statistics/failures",
                operation: "listFailures",
                summary: "The failures of a delivery, by reason",
                details: Self.paging,
                scope: .readDeliveries,
                parameters: Self.parameters,
                answers: [200: "FailureStatistics"],
                problems: [.notFound],
                handle: failures
            ),
        ]
    }

    private static let paging =
        "The order is stable, but entries may be added while the delivery is sent. Pass `next` of one page as `offset` of the following one."

    private static let parameters: [APIRoute.Parameter] = [
        APIRoute.idParameter,
        .query(
            "offset",
            #"{"type": "integer", "minimum": 0, "maximum": 2147483647, "default": 0}"#,
            "The number of entries to skip."
        ),
        .query("limit", #"{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}"#, "Page size."),
    ]

    private func part(
        _ part: StatisticPart,
        _ path: String,
        _ words: String,
        _ schema: String,
        _ key: @escaping @Sendable (StatisticPartRow) -> (String, JSONValue)
    ) -> APIRoute {
        APIRoute(
            method: .get,
            path: "/deliveries/{id}/statistics/\(path)",
            operation: "list\(schema)",
            summary: "The counts of a delivery \(words)",
            details: Self.paging,
            scope: .readDeliveries,
            parameters: Self.parameters,
            answers: [200: schema],
            problems: [.notFound],
            handle: { call in
                try await page(call, path) { store, id, offset, limit in
                    try await store.apiStatistics(delivery: id, by: part, offset: offset, limit: limit).map {
                        .members(key($0), ("counts", Self.json($0.counts)))
                    }
                }
            }
        )
    }

    private func failures(_ call: APICall) async throws -> APIReply {
        try await page(call, "failures") { store, id, offset, limit in
            try await store.apiFailures(delivery: id, offset: offset, limit: limit).map { row in
                .members(
                    ("application", .filledText(row.application)),
                    ("status", .string(row.status)),
                    ("failureType", .text(row.failureType)),
                    ("failureReason", .text(row.failureReason)),
                    ("reason", .filledText(row.reason)),
                    ("messages", .integer(row.messages))
                )
            }
        }
    }

    private func page(
        _ call: APICall,
        _ name: String,
        _ read: @escaping @Sendable (Store, Int64, Int32, Int32) async throws -> [JSONValue]
    ) async throws -> APIReply {
        var query = call.query
        let offset = query.integer("offset", 0...Int32.max) ?? 0
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
        try query.close()
        let id = try call.id("delivery")
        let rows = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await read(store, id, offset, limit)
        }
        let (next, isTooGreat) = offset.addingReportingOverflow(limit)
        let hasNext = rows.count == Int(limit) && !isTooGreat
        return APIReply(
            .ok,
            .members(
                ("deliveryId", .integer(id)),
                ("next", hasNext ? .integer(next) : .null),
                (name, .array(rows))
            )
        )
    }

    private func read(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let row = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.apiStatistics(delivery: id)
        }
        return APIReply(
            .ok,
            .members(
                ("deliveryId", .integer(id)),
                ("target", .integer(row.target)),
                ("excluded", .integer(row.excluded)),
                ("counts", Self.json(row.counts)),
                ("startedAt", .time(row.startedAt)),
                ("finishedAt", .time(row.finishedAt)),
                ("complete", .boolean(row.isComplete))
            )
        )
    }

    private static func json(_ counts: StatisticCounts) -> JSONValue {
        .object(counts.named.map { JSONEntry(name: $0.name, value: .integer($0.count)) })
    }
}
