import HTTPTypes
import PushCore
import Store

/// Saved audiences of services: named filters, their counts, and some of the subscriptions that they select.
struct AudienceRoutes: Sendable {
    let database: APIDatabase

    private static let list = "/services/{name}/audiences"
    private static let one = list + "/{audience}"
    private static let parameters = [
        APIRoute.nameParameter,
        .path("audience", APIText.newName.schema(mayBeEmpty: false), "The audience's name."),
    ]

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: Self.list,
                operation: "listAudiences",
                summary: "The saved audiences of a service, with their last counts",
                details: "The key must allow an application of the service.",
                scope: .readDeliveries,
                parameters: [APIRoute.nameParameter],
                answers: [200: "AudienceList"],
                problems: [.notFound],
                handle: list
            ),
            APIRoute(
                method: .put,
                path: Self.one,
                operation: "saveAudience",
                summary: "Save a filter as an audience of a service",
                details:
                    "If there is one of this name, its filter is replaced, and its count dropped. Deliveries that were given the audience earlier keep the filter that they copied. The key must allow all applications of the service.",
                scope: .writeDeliveries,
                body: .required(schema: "NewAudience"),
                parameters: Self.parameters,
                answers: [200: "Audience"],
                problems: [.notFound],
                handle: save
            ),
            APIRoute(
                method: .delete,
                path: Self.one,
                operation: "removeAudience",
                summary: "Remove a saved audience",
                details:
                    "Deliveries keep the filter that they copied. The key must allow all applications of the service.",
                scope: .writeDeliveries,
                parameters: Self.parameters,
                answers: [204: ""],
                problems: [.notFound],
                handle: remove
            ),
            APIRoute(
                method: .post,
                path: Self.one + "/count",
                operation: "countAudience",
                summary: "Count a saved audience",
                details:
                    "A supervisor counts within some seconds, unless it did within the last minute: call it again, or list the audiences, until counting is false. A large audience is estimated. Opt-outs from a category, control groups and frequency caps are left to the delivery. The key must allow an application of the service.",
                scope: .readDeliveries,
                parameters: Self.parameters,
                answers: [200: "Audience"],
                problems: [.notFound],
                handle: count
            ),
            APIRoute(
                method: .get,
                path: Self.one + "/sample",
                operation: "sampleAudience",
                summary: "Some subscriptions of a saved audience, as of its last count",
                details: "Those of applications that the key allows.",
                scope: .readDevices,
                parameters: Self.parameters,
                answers: [200: "AudienceSample"],
                problems: [.notFound],
                handle: sample
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("service")
        let rows = try await database.run { store in
            try await store.requireService(name, for: call)
            return try await store.apiAudiences(ofService: name)
        }
        return APIReply(.ok, .members(("audiences", .array(rows.map(Self.json)))))
    }

    private func save(_ call: APICall) async throws -> APIReply {
        let (service, name) = (try call.name("service"), try Self.name(call))
        var reader = JSONReader(call.body)
        let filter = reader.text("filter", required: true, as: .filter, mayBeEmpty: false) ?? ""
        try reader.close()
        let row = try await database.run { store in
            try await store.requireService(service, for: call, asWhole: true)
            try await store.requireFilter(filter)
            try await store.saveAudience(name, ofService: service, filter: filter)
            return try await Self.row(name, service, store)
        }
        return APIReply(.ok, Self.json(row))
    }

    private func remove(_ call: APICall) async throws -> APIReply {
        let (service, name) = (try call.name("service"), try Self.name(call))
        try await database.run { store in
            try await store.requireService(service, for: call, asWhole: true)
            try await store.removeAudience(name, ofService: service)
        }
        return APIReply(.noContent)
    }

    private func count(_ call: APICall) async throws -> APIReply {
        let (service, name) = (try call.name("service"), try Self.name(call))
        let row = try await database.run { store in
            try await store.requireService(service, for: call)
            try await store.askAudienceCount(name, ofService: service)
            return try await Self.row(name, service, store)
        }
        return APIReply(.ok, Self.json(row))
    }

    private func sample(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let (service, name) = (try call.name("service"), try Self.name(call))
        let rows = try await database.run { store in
            try await store.requireService(service, for: call)
            let allowed = Set(try await store.apiApplications().filter { call.allows($0.id) }.map(\.name))
            return try await store.audienceSample(name, ofService: service).filter { allowed.contains($0.application) }
        }
        return APIReply(.ok, .members(("subscriptions", .array(rows.map(Self.json)))))
    }

    private static func name(_ call: APICall) throws(APIProblem) -> String {
        guard let name = call.path["audience"], NameRule.problem(name: name) == nil else {
            throw .notFound("audience of this name")
        }
        return name
    }

    private static func row(_ name: String, _ service: String, _ store: Store) async throws -> AudienceRow {
        guard let row = try await store.apiAudiences(ofService: service).first(where: { $0.name == name }) else {
            throw APIProblem.notFound("audience of this name")
        }
        return row
    }

    private static func json(_ row: AudienceRow) -> JSONValue {
        .members(
            ("name", .string(row.name)),
            ("filter", .string(row.filter)),
            ("madeBy", .string(row.madeBy)),
            ("createdAt", .time(row.createdAt)),
            ("changedBy", .string(row.changedBy)),
            ("changedAt", .time(row.changedAt)),
            ("subscriptions", row.subscriptions.map { JSONValue.integer($0) } ?? .null),
            ("excluded", row.excluded.map { JSONValue.integer($0) } ?? .null),
            ("estimate", .boolean(row.margin != nil)),
            ("margin", row.margin.map { JSONValue.integer($0) } ?? .null),
            ("problem", .filledText(row.problem)),
            ("countedAt", .time(row.countedAt)),
            ("counting", .boolean(row.isBeingCounted))
        )
    }

    private static func json(_ row: AudienceSample) -> JSONValue {
        .members(
            ("id", .integer(row.subscriptionID)),
            ("application", .string(row.application)),
            ("platform", .string(row.platform)),
            ("locale", .filledText(row.locale)),
            ("registeredAt", .time(row.registeredAt))
        )
    }
}
