import HTTPTypes
import PushCore
import Store

/// The control group of a service, its results, and what users did, with or without a message.
struct ControlGroupRoutes: Sendable {
    let database: APIDatabase

    private static let path = "/services/{name}/control-group"
    static let percents = 0.0...50.0
    static let days: ClosedRange<Int32> = 1...366
    /// Four weeks, so that each weekday counts the same.
    static let usualDays: Int32 = 28

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: Self.path,
                operation: "readControlGroup",
                summary:
                    "The control group of a service: its share, its members, and what they do in comparison with others",
                details: "The key must allow an application of the service.",
                scope: .readDeliveries,
                parameters: [
                    APIRoute.nameParameter,
                    .query(
                        "days",
                        #"{"type": "integer", "minimum": \#(Self.days.lowerBound), "maximum": \#(Self.days.upperBound), "default": \#(Self.usualDays)}"#,
                        "How many days to compare, since the last change of the group at most."
                    ),
                ],
                answers: [200: "ControlGroup"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .put,
                path: Self.path,
                operation: "setControlGroup",
                summary: "Keep a share of a service's persons without marketing",
                details:
                    "A larger share keeps the members, and so does a group that ends (0 percent) and begins again. It counts for what is prepared from now on. The key must allow all applications of the service.",
                scope: .writeDeliveries,
                body: .required(schema: "NewControlGroup"),
                parameters: [APIRoute.nameParameter],
                answers: [200: "ControlGroup"],
                problems: [.notFound],
                handle: set
            ),
            APIRoute(
                method: .post,
                path: "/services/{name}/conversions",
                operation: "recordUserConversion",
                summary: "Record that a user did something, with or without a message",
                details:
                    "Report it for all users, or members of the control group and others cannot be compared. It counts while the service has a control group, for users with a subscription, once a name and day (UTC), so that the call is safe to repeat. The key must allow all applications of the service.",
                scope: .writeConversions,
                body: .required(schema: "NewUserConversion"),
                parameters: [APIRoute.nameParameter],
                answers: [200: "UserConversion"],
                problems: [.notFound],
                handle: record
            ),
        ]
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let days = query.integer("days", Self.days) ?? Self.usualDays
        try query.close()
        let name = try call.name("service")
        let json = try await database.run { store in
            try await store.requireService(name, for: call)
            return try await Self.json(name, days, store)
        }
        return APIReply(.ok, json)
    }

    private func set(_ call: APICall) async throws -> APIReply {
        let name = try call.name("service")
        var reader = JSONReader(call.body)
        let percent = reader.number("percent", Self.percents)
        let categories = reader.textList("categories", 1...JSONReader.maxNames, as: .category)
        var faults = reader.finish()
        if faults.isEmpty, percent == nil { faults = [APIProblem.Fault(path: "/percent", problem: "it is missing")] }
        if !faults.isEmpty { throw APIProblem.invalid(faults) }
        let json = try await database.run { store in
            try await store.requireService(name, for: call, asWhole: true)
            try await store.setControlGroup(ofService: name, percent: percent ?? 0, categories: categories)
            return try await Self.json(name, Self.usualDays, store)
        }
        return APIReply(.ok, json)
    }

    private func record(_ call: APICall) async throws -> APIReply {
        let service = try call.name("service")
        var reader = JSONReader(call.body)
        let user = reader.text("userKey", required: true, as: .userKey, mayBeEmpty: false) ?? ""
        let name = reader.text("name", as: .conversion, mayBeEmpty: false) ?? ConversionBody.usualName
        let value = reader.number("value", ConversionBody.values)
        try reader.close()
        let counts = try await database.run { store in
            try await store.requireService(service, for: call, asWhole: true)
            return try await store.recordUserConversion(service: service, userKey: user, name: name, value: value)
        }
        return APIReply(.ok, .members(("counts", .boolean(counts))))
    }

    private static func json(_ service: String, _ days: Int32, _ store: Store) async throws -> JSONValue {
        let row = try await store.apiControlGroup(ofService: service)
        let results = try await store.controlResults(ofService: service, days: days)
        return .members(
            ("percent", .double(row?.percent ?? 0)),
            ("categories", row?.categories.map { JSONValue.texts($0) } ?? .null),
            ("since", .time(row?.since)),
            ("persons", row?.persons.map { JSONValue.integer($0) } ?? .null),
            ("members", row?.members.map { JSONValue.integer($0) } ?? .null),
            ("countedAt", .time(row?.countedAt)),
            ("results", .array(results.map(json)))
        )
    }

    private static func json(_ result: ControlResult) -> JSONValue {
        .members(
            ("name", .string(result.name)),
            ("since", .time(result.since)),
            ("members", result.members.map { JSONValue.integer($0) } ?? .null),
            ("convertedMembers", .integer(result.convertedMembers)),
            ("others", result.others.map { JSONValue.integer($0) } ?? .null),
            ("convertedOthers", .integer(result.convertedOthers)),
            ("difference", .string(result.difference))
        )
    }
}
