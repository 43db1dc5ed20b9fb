import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/targets`: whom a delivery with explicit targets goes to.
struct TargetRoutes: Sendable {
    let database: APIDatabase

    /// Targets of one request.
    private static let mostTargets = 10_000
    /// Their bytes: some 400 for each, where an FCM token has about 160.
    static let mostBytes = 4 << 20

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/targets",
                operation: "addTargets",
                summary: "Add to whom a delivery with explicit targets goes, before its start",
                details:
                    "At most \(Self.mostTargets) targets and \(Self.mostBytes >> 20) MiB in a request; all of them are added or none. An address that is added twice gets one message.",
                scope: .writeDeliveries,
                body: .required(schema: "NewTargets"),
                mostBodyBytes: Self.mostBytes,
                parameters: [APIRoute.idParameter],
                answers: [200: "AddedTargets"],
                problems: [.notFound, .conflict],
                handle: add
            )
        ]
    }

    private func add(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = try call.id("delivery")
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
        for (place, element) in (reader.list("targets", required: true, 1...mostTargets) ?? []).enumerated() {
            var one = JSONReader(element, at: "/targets/\(place)")
            let address = MessageBody.address(&one)
            let variables = one.object("variables")?.compactText
            if let variables, variables.utf8.count > MessageLimits.longestVariables {
                one.note("variables", "they have more than \(MessageLimits.longestVariables) bytes")
            }
            reader.add(one.finish())
            switch address {
            case .userKey(let key): targets.append(ExplicitTarget(.user(key), variables: variables))
            case .subscription(let id): targets.append(ExplicitTarget(.subscription(id), variables: variables))
            case .pushToken(let token): targets.append(ExplicitTarget(.pushToken(token), variables: variables))
            case nil: break
            }
        }
        try reader.close()
        return targets
    }
}
