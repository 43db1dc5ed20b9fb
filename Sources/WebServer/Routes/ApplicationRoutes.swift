import HTTPTypes
import PushCore
import Store

/// `/applications`.
struct ApplicationRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/applications",
                operation: "listApplications",
                summary: "The applications that the key allows",
                scope: .readApplications,
                answers: [200: "ApplicationList"],
                handle: list
            ),
            APIRoute(
                method: .get,
                path: "/applications/{name}",
                operation: "readApplication",
                summary: "An application by its name",
                scope: .readApplications,
                parameters: [.path("name", #"{"type": "string", "minLength": 1}"#, "Its name.")],
                answers: [200: "Application"],
                problems: [.notFound],
                handle: read
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let rows = try await database.run { try await $0.apiApplications() }.filter { call.allows($0.id) }
        return APIReply(.ok, .members(("applications", .array(rows.map(Self.json)))))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let rows = try await database.run { try await $0.apiApplications() }
        guard let row = rows.first(where: { $0.name == call.path["name"] && call.allows($0.id) }) else {
            throw APIProblem.notFound("application of this name")
        }
        return APIReply(.ok, Self.json(row))
    }

    private static func json(_ row: APIApplicationRow) -> JSONValue {
        .members(
            ("name", .string(row.name)),
            ("label", .string(row.label)),
            ("service", .string(row.service)),
            ("platform", .string(row.platform.rawValue)),
            ("environment", .string(row.environment)),
            ("integrationKey", .string(row.integrationKey)),
            ("bundleId", .filledText(row.bundleID)),
            ("hasCredential", .boolean(row.hasCredential)),
            ("circuit", .string(row.circuit)),
            ("circuitReason", .filledText(row.circuitReason))
        )
    }
}
