import HTTPTypes
import PushCore
import Store

/// The frequency caps of services.
struct CapRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/services/{name}/frequency-caps",
                operation: "listFrequencyCaps",
                summary: "How many messages a person of a service may get in a time",
                details:
                    "Whom they leave out is in the exclusions of a delivery, as frequency_cap. They are set with pushmta cap or in SQL. The key must allow an application of the service.",
                scope: .readApplications,
                parameters: [APIRoute.nameParameter],
                answers: [200: "FrequencyCapList"],
                problems: [.notFound],
                handle: list
            )
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = call.path["name"] ?? ""
        let caps = try await database.run { store in
            guard try await store.apiApplications().contains(where: { $0.service == name && call.allows($0.id) }) else {
                throw APIProblem.notFound("service of this name")
            }
            return try await store.apiFrequencyCaps(ofService: name)
        }
        return APIReply(.ok, .members(("frequencyCaps", .array(caps.map(Self.json)))))
    }

    private static func json(_ cap: FrequencyCapRow) -> JSONValue {
        .members(
            ("name", .string(cap.name)),
            ("maxMessages", .integer(cap.maxMessages)),
            ("per", .string(cap.unit.rawValue)),
            ("length", .integer(cap.length)),
            ("categories", cap.categories.map { JSONValue.texts($0) } ?? .null)
        )
    }
}
