import HTTPTypes
import PushCore
import Store

/// `/signals`: the health signals that deliveries can follow.
struct SignalRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/signals",
                operation: "listSignals",
                summary: "The health signals that deliveries can follow, by name",
                details:
                    "Operators define them with pushmta signal set. followDelivery lets the rate of a delivery follow one; the delivery then shows it as its signal.",
                scope: .readDeliveries,
                answers: [200: "SignalList"],
                handle: list
            )
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let signals = try await database.run { try await $0.signalChoices() }
        return APIReply(.ok, .members(("signals", .array(signals.map(Self.json)))))
    }

    private static func json(_ signal: SignalChoice) -> JSONValue {
        .members(
            ("name", .string(signal.name)),
            ("kind", .string(signal.kind.rawValue)),
            ("good", .string(signal.good.rawValue)),
            ("value", signal.value.map(JSONValue.double) ?? .null),
            ("ageSeconds", signal.ageSeconds.map(JSONValue.double) ?? .null),
            ("stale", .boolean(signal.isStale)),
            ("deliveries", .integer(signal.deliveries))
        )
    }
}
