import HTTPTypes
import PushCore
import Store

/// The history of what people did, of services.
struct BehaviourRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/services/{name}/behaviour",
                operation: "readBehaviour",
                summary: "Whether a service keeps what people did",
                details:
                    "Filters ask for it: sent, received and clicked. It is set with pushmta behaviour or in SQL. The key must allow an application of the service.",
                scope: .readApplications,
                parameters: [APIRoute.nameParameter],
                answers: [200: "Behaviour"],
                problems: [.notFound],
                handle: read
            )
        ]
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("service")
        let row = try await database.run { store in
            try await store.requireService(name, for: call)
            guard let row = try await store.apiBehaviour(ofService: name).first else {
                throw APIProblem.notFound("service of this name")
            }
            return row
        }
        return APIReply(
            .ok,
            .members(
                ("service", .string(row.service)),
                ("kept", .boolean(row.isKept)),
                ("since", .time(row.since)),
                ("deliveries", .integer(row.deliveries))
            )
        )
    }
}
