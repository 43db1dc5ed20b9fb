import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/targets`: the targets of a delivery with explicit targets.
struct TargetRoutes: Sendable {
    let database: APIDatabase

    /// The maximum number of targets in a request.
    private static let maxTargets = 10_000
    /// The maximum size of a request in bytes: about 400 for each target; an FCM token has about 160.
    static let maxBytes = 4 << 20

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/targets",
                operation: "addTargets",
                summary: "Add targets to a delivery with explicit targets, before its start",
                details:
                    "At most \(Self.maxTargets) targets and \(Self.maxBytes >> 20) MiB in a request; all are added or none. An address that is added twice gets one message.",
                scope: .writeDeliveries,
                body: .required(schema: "NewTargets"),
                maxBodyBytes: Self.maxBytes,
                parameters: [APIRoute.idParameter],
                answers: [200: "AddedTargets"],
                problems: [.notFound, .conflict],
                handle: add
            )
        ]
    }

    private func add(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let targets = try Self.targets(call.body)
        let added = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.addDeliveryTargets(targets, to: id)
        }
        return APIReply(.ok, .members(("added", .integer(added))))
    }

    private static func targets(_ body: JSONValue) throws(APIProblem) -> [ExplicitTarget] {
        var reader = JSONReader(body)
        var targets: [ExplicitTarget] = []
        for (place, element) in (reader.list("targets", required: true, 1...maxTargets) ?? []).enumerated() {
            var one = JSONReader(element, at: "/targets/\(place)")
            let addressee = MessageBody.address(&one)
            let variables = one.object("variables")?.compactText
            if let variables, variables.utf8.count > MessageLimits.maxVariablesBytes {
                one.note("variables", "they have more than \(MessageLimits.maxVariablesBytes) bytes")
            }
            reader.add(one.finish())
            if let addressee { targets.append(ExplicitTarget(addressee, variables: variables)) }
        }
        try reader.close()
        return targets
    }
}
