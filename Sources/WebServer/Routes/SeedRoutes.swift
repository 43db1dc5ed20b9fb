import HTTPTypes
import PushCore
import Store

/// `/seeds`: the addresses that get proofs, and deliveries that include seed addresses.
struct SeedRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/seeds",
                operation: "listSeeds",
                summary: "Seed addresses, by name",
                details: NamePage.details,
                scope: .readDeliveries,
                parameters: NamePage.parameters,
                answers: [200: "SeedList"],
                handle: list
            ),
            APIRoute(
                method: .post,
                path: "/seeds",
                operation: "addSeed",
                summary: "Add a seed address: a device that gets proofs",
                details:
                    "Give exactly one of deviceId, userKey and pushToken; the last two need the application. A push token need not belong to a subscriber. It then gets only proofs, and deliveries that include seed addresses.",
                scope: .writeDeliveries,
                body: .required(schema: "NewSeed"),
                answers: [201: "Seed"],
                problems: [.notFound, .conflict],
                handle: add
            ),
            APIRoute(
                method: .get,
                path: "/seeds/{name}",
                operation: "readSeed",
                summary: "A seed address by its name",
                scope: .readDeliveries,
                parameters: [APIRoute.nameParameter],
                answers: [200: "Seed"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .delete,
                path: "/seeds/{name}",
                operation: "deleteSeed",
                summary: "Delete a seed address; its device is not changed",
                scope: .writeDeliveries,
                parameters: [APIRoute.nameParameter],
                answers: [204: ""],
                problems: [.notFound],
                handle: delete
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        let page = try NamePage(call)
        let rows = try await database.run {
            try await $0.apiSeeds(behind: page.after, applications: call.applications, limit: page.limit)
        }
        return APIReply(.ok, page.json("seeds", rows, next: \.name, Self.json))
    }

    private func add(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let given = try Self.seed(call.body)
        let row = try await database.run { store in
            try await Self.requireApplication(of: given, store, call)
            try await store.addSeed(given)
            return try await Self.seed(given.name, store, call)
        }
        return .created("seeds", row.name, Self.json(row))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("seed address")
        let row = try await database.run { try await Self.seed(name, $0, call) }
        return APIReply(.ok, Self.json(row))
    }

    private func delete(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("seed address")
        try await database.run { store in
            _ = try await Self.seed(name, store, call)
            try await store.removeSeed(named: name)
        }
        return APIReply(.noContent)
    }

    private static func seed(_ name: String, _ store: Store, _ call: APICall) async throws -> SeedRow {
        guard
            let row = try await store.apiSeeds(named: name, applications: call.applications, limit: 1).first
        else { throw APIProblem.notFound("seed address of this name") }
        return row
    }

    /// Refuses an application, or a device of one, that the key does not allow.
    private static func requireApplication(of seed: NewSeed, _ store: Store, _ call: APICall) async throws {
        if let application = seed.application { try await store.requireApplications([application], for: call) }
        guard case .subscription(let id) = seed.address, call.applications != nil else { return }
        guard call.allows(try await store.device(id).applicationID) else { throw APIProblem.notFound("device \(id)") }
    }

    private static func seed(_ body: JSONValue) throws(APIProblem) -> NewSeed {
        var reader = JSONReader(body)
        let name = reader.newName()
        if name.contains(",") || !name.isEmpty && name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            reader.note("name", "it is a number or contains a comma")
        }
        let label = reader.optionalLabel() ?? ""
        let application = reader.text("application", as: .name, mayBeEmpty: false)
        let address = MessageBody.address(&reader)
        let variables = reader.object("variables")?.compactText
        if let variables, variables.utf8.count > MessageLimits.maxVariablesBytes {
            reader.note("variables", "they have more than \(MessageLimits.maxVariablesBytes) bytes")
        }
        let locale = reader.text("locale", as: .seedLocale) ?? ""
        // The same rule as in the database's function.
        if locale.wholeMatch(of: /([A-Za-z][A-Za-z0-9_@=;.\-]{0,63})?/) == nil {
            reader.note("locale", "a language tag such as fr or fr-CA is expected")
        }
        switch address {
        case .userKey, .pushToken:
            if application == nil, reader.faults.isEmpty { reader.note("application", "it is missing") }
        case .subscription, nil: break
        }
        try reader.close()
        guard var address else { throw .invalid("", "an address is expected") }
        if case .userKey(let key) = address { address = .userKey(KeyText.trimmed(key)) }
        return NewSeed(
            name: name,
            label: label,
            application: application,
            address: address,
            variables: variables,
            locale: locale
        )
    }

    private static func json(_ row: SeedRow) -> JSONValue {
        .members(
            ("name", .string(row.name)),
            ("label", .string(row.label)),
            ("application", .string(row.application)),
            ("platform", .string(row.platform.rawValue)),
            ("deviceId", .integer(row.subscriptionID)),
            ("locale", .filledText(row.locale)),
            ("variables", .stored(row.variables)),
            ("seedOnly", .boolean(row.isSeedOnly)),
            ("problem", .filledText(row.problem))
        )
    }
}
