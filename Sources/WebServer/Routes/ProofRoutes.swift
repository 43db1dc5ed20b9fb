import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/proofs`: send proofs of a delivery to test addresses.
struct ProofRoutes: Sendable {
    let database: APIDatabase

    private static let usualPage: Int32 = 20
    private static let maxOfPage: Int32 = 100
    /// The maximum number of addresses of each kind; proofs are viewed by people.
    private static let maxAddresses = 100

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/proofs",
                operation: "proveDelivery",
                summary: "Send a delivery's current content to test addresses",
                details:
                    "The addresses are seed addresses, devices and push tokens of devices; if none is given, all seed addresses of the delivery's applications. The proof is a separate delivery whose parentId is the delivery; it affects no other counts. With start false it waits to be started.",
                scope: .writeDeliveries,
                body: .optional(schema: "NewProof"),
                parameters: [APIRoute.idParameter],
                answers: [201: "Delivery"],
                problems: [.notFound, .conflict],
                handle: create
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/proofs",
                operation: "listProofs",
                summary: "The proofs of a delivery, newest first",
                details: "Pass `next` of one page as `before` of the following one.",
                scope: .readDeliveries,
                parameters: [
                    APIRoute.idParameter,
                    .query(
                        "before",
                        #"{"type": "integer", "format": "int64", "minimum": 1}"#,
                        "Only proofs with smaller ids."
                    ),
                    .query("limit", #"{"type": "integer", "minimum": 1, "maximum": 100, "default": 20}"#, "Page size."),
                ],
                answers: [200: "DeliveryList"],
                problems: [.notFound],
                handle: list
            ),
        ]
    }

    private func create(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        var reader = JSONReader(call.body)
        let seeds = reader.textList("seeds", 1...Self.maxAddresses, as: .name)
        let tokens = reader.textList(
            "pushTokens",
            1...Self.maxAddresses,
            as: .pushToken
        )
        let devices = reader.list("deviceIds", 1...Self.maxAddresses)?.enumerated().compactMap { place, element in
            var one = JSONReader(.members(("id", element)))
            guard let device = one.integer("id", 1...Int64.max) else {
                reader.note("deviceIds", "element \(place) is not a positive integer")
                return Int64?.none
            }
            return device
        }
        let start = reader.flag("start") ?? true
        let variant = reader.integer("variant", 1...Int32(ExperimentRule.variantCounts.upperBound))
        try reader.close()
        let row = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            let proof = try await store.createProof(
                of: id,
                variant: variant,
                seeds: seeds,
                devices: devices,
                tokens: tokens,
                start: start,
                applications: call.applications
            )
            return try await store.apiDelivery(proof, for: call)
        }
        var reply = APIReply(.created, DeliveryJSON.json(row))
        reply.headers[.location] = "\(WebAPI.base)/deliveries/\(row.id)"
        return reply
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let before = query.integer("before", 1...Int64.max)
        let limit = query.integer("limit", 1...Self.maxOfPage) ?? Self.usualPage
        try query.close()
        let id = try call.id("delivery")
        let rows = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.apiProofs(
                of: id,
                through: before.map { $0 - 1 } ?? .max,
                applications: call.applications,
                limit: limit
            )
        }
        let next = rows.count == Int(limit) ? rows.last.map { JSONValue.integer($0.id) } : nil
        return APIReply(.ok, .members(("deliveries", .array(rows.map(DeliveryJSON.json))), ("next", next ?? .null)))
    }
}
