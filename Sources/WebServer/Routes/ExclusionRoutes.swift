import HTTPTypes
import PushCore
import Store

/// `/exclusion-lists`: addressees that get no messages of the deliveries that exclude them.
///
/// Lists belong to no application: a key that is limited to applications can read them, but not write them.
struct ExclusionRoutes: Sendable {
    let database: APIDatabase

    /// The maximum number of addressees in a request, as for targets.
    private static let maxAddressees = 10_000
    private static let maxBytes = TargetRoutes.maxBytes
    private static let unlimited = "Needs a key that is not limited to applications, because lists apply to all."

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/exclusion-lists",
                operation: "listExclusionLists",
                summary: "Exclusion lists, by name",
                details: "\(NamePage.details) Entries are counted up to \(Store.maxCountedOfList) of each kind.",
                scope: .readExclusions,
                parameters: NamePage.parameters,
                answers: [200: "ExclusionLists"],
                handle: list
            ),
            APIRoute(
                method: .post,
                path: "/exclusion-lists",
                operation: "createExclusionList",
                summary: "Create an empty exclusion list",
                details: Self.unlimited,
                scope: .writeExclusions,
                body: .required(schema: "NewExclusionList"),
                answers: [201: "ExclusionList"],
                problems: [.conflict],
                handle: create
            ),
            APIRoute(
                method: .get,
                path: "/exclusion-lists/{name}",
                operation: "readExclusionList",
                summary: "An exclusion list by its name",
                details: "Entries are counted up to \(Store.maxCountedOfList) of each kind.",
                scope: .readExclusions,
                parameters: [APIRoute.nameParameter],
                answers: [200: "ExclusionList"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .delete,
                path: "/exclusion-lists/{name}",
                operation: "deleteExclusionList",
                summary: "Delete an exclusion list that no delivery uses",
                details:
                    "A list with more than \(Store.maxDeletedOfList) entries must be deleted with pushmta exclusion delete. \(Self.unlimited)",
                scope: .writeExclusions,
                parameters: [APIRoute.nameParameter],
                answers: [204: ""],
                problems: [.notFound, .conflict],
                handle: delete
            ),
            people(
                "add",
                "addExclusions",
                "Put addressees on an exclusion list",
                "All of them are added or none; those already on it are ignored. \(Self.unlimited)",
                .writeExclusions,
                answer: "ExclusionChange"
            ) { store, list, addressees in
                let added = try await store.addExclusions(list: list, Addressees(addressees))
                return .members(("changed", .integer(added)))
            },
            people(
                "remove",
                "removeExclusions",
                "Take addressees off an exclusion list",
                "Those not on it are ignored. \(Self.unlimited)",
                .writeExclusions,
                answer: "ExclusionChange"
            ) { store, list, addressees in
                let removed = try await store.removeExclusions(list: list, Addressees(addressees))
                return .members(("changed", .integer(removed)))
            },
            people(
                "find",
                "findExclusions",
                "Check whether addressees are on an exclusion list",
                "Entries are matched as named: a device is not found by its user's key. The addressees are in the body, because URLs end up in logs.",
                .readExclusions,
                answer: "FoundExclusions"
            ) { store, list, addressees in
                let found = try await store.areExcluded(addressees, list: list)
                return .members(("found", .array(found.map(JSONValue.boolean))))
            },
        ]
    }

    /// A route that applies an action to an exclusion list and addressees.
    private func people(
        _ verb: String,
        _ operation: String,
        _ summary: String,
        _ details: String,
        _ scope: APIScope,
        answer: String,
        _ act: @escaping @Sendable (Store, String, [Addressee]) async throws -> JSONValue
    ) -> APIRoute {
        APIRoute(
            method: .post,
            path: "/exclusion-lists/{name}/\(verb)",
            operation: operation,
            summary: summary,
            details:
                "At most \(Self.maxAddressees) addressees and \(Self.maxBytes >> 20) MiB in a request. \(details)",
            scope: scope,
            body: .required(schema: "ListAddressees"),
            maxBodyBytes: Self.maxBytes,
            parameters: [APIRoute.nameParameter],
            answers: [200: answer],
            problems: [.notFound],
            handle: { call in
                var query = call.query
                try query.close()
                if scope == .writeExclusions { try call.requireAllApplications(Self.subject) }
                let name = try call.name("exclusion list")
                let addressees = try Self.addressees(call.body)
                return APIReply(.ok, try await database.run { try await act($0, name, addressees) })
            }
        )
    }

    private static let subject = "exclusion lists"

    private func list(_ call: APICall) async throws -> APIReply {
        let page = try NamePage(call)
        let rows = try await database.run { try await $0.apiExclusionLists(behind: page.after, limit: page.limit) }
        return APIReply(.ok, page.json("exclusionLists", rows, next: \.name, Self.json))
    }

    private func create(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        try call.requireAllApplications(Self.subject)
        var reader = JSONReader(call.body)
        let name = reader.newName()
        let label = reader.optionalLabel() ?? ""
        try reader.close()
        let row = try await database.run { store in
            try await store.createExclusionList(name: name, label: label)
            return try await Self.list(name, store)
        }
        return .created("exclusion-lists", name, Self.json(row))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("exclusion list")
        return APIReply(.ok, Self.json(try await database.run { try await Self.list(name, $0) }))
    }

    private func delete(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        try call.requireAllApplications(Self.subject)
        let name = try call.name("exclusion list")
        try await database.run { try await $0.removeExclusionList(named: name) }
        return APIReply(.noContent)
    }

    private static func list(_ name: String, _ store: Store) async throws -> CountedList {
        guard let row = try await store.apiExclusionLists(named: name, limit: 1).first else {
            throw APIProblem.notFound("exclusion list of this name")
        }
        return row
    }

    private static func addressees(_ body: JSONValue) throws(APIProblem) -> [Addressee] {
        var reader = JSONReader(body)
        var addressees: [Addressee] = []
        for (place, element) in (reader.list("addressees", required: true, 1...maxAddressees) ?? []).enumerated() {
            var one = JSONReader(element, at: "/addressees/\(place)")
            if let addressee = MessageBody.address(&one) {
                // The database would skip a blank one.
                if case .userKey(let key) = addressee, KeyText.trimmed(key).isEmpty {
                    one.note("userKey", "it is blank")
                }
                addressees.append(addressee)
            }
            reader.add(one.finish())
        }
        try reader.close()
        return addressees
    }

    private static func json(_ row: CountedList) -> JSONValue {
        .members(
            ("name", .string(row.name)),
            ("label", .string(row.label)),
            (
                "counts",
                .members(
                    ("userKeys", .integer(row.people[0])),
                    ("devices", .integer(row.people[1])),
                    ("pushTokens", .integer(row.people[2]))
                )
            ),
            ("used", .boolean(row.isUsed)),
            ("changedAt", .time(row.changedAt))
        )
    }
}
