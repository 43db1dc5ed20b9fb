import Foundation
import HTTPTypes
import PushCore
import Store

/// `/events`: what happened, page by page, for a consumer that an operator has created.
///
/// A page is given until the client says that it is processed, so that no event is lost with an answer that does not
/// arrive.
struct EventRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 100
    private static let maxOfPage: Int32 = 1_000

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/events",
                operation: "readEvents",
                summary: "The next events of a consumer",
                details:
                    "An operator creates consumers (pushmta events create). The same page is given until its id is passed as processed; then the next one is given. An event may be given twice if a client dies before it has said so, and has the same id then. Events of one device are given in the order in which they happened. page is null if there are no new events: ask again after a second. A consumer that has another reader is refused. A key that is limited to applications sees no consumer.",
                scope: .readEvents,
                parameters: [
                    APIRoute.Parameter(
                        name: "consumer",
                        place: "query",
                        isRequired: true,
                        schema: APIText.name.schema(mayBeEmpty: false),
                        meaning: "The consumer's name."
                    ),
                    .query(
                        "limit",
                        #"{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}"#,
                        "The number of events in a page."
                    ),
                    .query(
                        "processed",
                        #"{"type": "string", "format": "uuid", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}"#,
                        "The id of the page that was processed."
                    ),
                ],
                answers: [200: "EventPage"],
                problems: [.notFound, .conflict],
                handle: read
            )
        ]
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let consumer = query.text("consumer", as: .name)
        if consumer == nil, query.faults.isEmpty { query.note("consumer", "the name of a consumer is expected") }
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
        let processed = query.text("processed", as: .moment)
        if let processed, UUID(uuidString: processed)?.uuidString.lowercased() != processed {
            query.note("processed", "the id of a page is expected")
        }
        try query.close()
        guard let consumer, call.applications == nil else {
            throw APIProblem(
                .notFound,
                "The key is limited to applications, and consumers belong to none.",
                "Use a key without that limit."
            )
        }
        let (page, events) = try await database.run {
            try await $0.eventPage(of: consumer, limit: limit, processed: processed)
        }
        return APIReply(.ok, .members(("page", .text(page)), ("events", .array(events.map(Self.json)))))
    }

    private static func json(_ event: EventRow) -> JSONValue {
        .members(
            ("id", .string(event.id)),
            ("kind", .string(event.kind)),
            ("occurredAt", .time(event.occurredAt)),
            ("service", .text(event.service)),
            ("application", .text(event.application)),
            ("deliveryId", event.delivery.map { JSONValue.integer($0) } ?? .null),
            ("sequence", event.sequence.map { JSONValue.integer($0) } ?? .null),
            ("deviceId", event.subscription.map { JSONValue.integer($0) } ?? .null),
            ("userKey", .text(event.userKey)),
            ("reason", .text(event.reason)),
            ("httpStatus", event.httpStatus.map { JSONValue.integer($0) } ?? .null),
            ("state", .text(event.state))
        )
    }
}
