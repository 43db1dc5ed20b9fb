import HTTPTypes
import PushCore
import Store

/// The frequency caps of services.
struct CapRoutes: Sendable {
    let database: APIDatabase

    private static let path = "/services/{name}/frequency-caps/{cap}"
    private static let parameters = [
        APIRoute.nameParameter,
        .path("cap", APIText.newName.schema(mayBeEmpty: false), "The name of the frequency cap."),
    ]
    private static let unlimited =
        "Needs a key that is not limited to applications, because a cap is for a whole service."

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/services/{name}/frequency-caps",
                operation: "listFrequencyCaps",
                summary: "How many messages a person of a service may get in a time",
                details:
                    "Whom they leave out is in the exclusions of a delivery, as frequency_cap. The key must allow an application of the service.",
                scope: .readApplications,
                parameters: [APIRoute.nameParameter],
                answers: [200: "FrequencyCapList"],
                problems: [.notFound],
                handle: list
            ),
            APIRoute(
                method: .put,
                path: Self.path,
                operation: "setFrequencyCap",
                summary: "Add a frequency cap to a service, or replace it",
                details:
                    "It applies to deliveries that are prepared from then on. It counts the messages of deliveries that some cap applied to, so one for a new category begins at 0. \(Self.unlimited)",
                scope: .writeCaps,
                body: .required(schema: "FrequencyCapBody"),
                parameters: Self.parameters,
                answers: [200: "FrequencyCap"],
                problems: [.notFound],
                handle: set
            ),
            APIRoute(
                method: .delete,
                path: Self.path,
                operation: "removeFrequencyCap",
                summary: "Remove a frequency cap of a service",
                details: "Deliveries that are prepared from then on are not subject to it. \(Self.unlimited)",
                scope: .writeCaps,
                parameters: Self.parameters,
                answers: [204: ""],
                problems: [.notFound],
                handle: remove
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("service")
        let caps = try await database.run { store in
            try await store.requireService(name, for: call)
            return try await store.apiFrequencyCaps(ofService: name)
        }
        return APIReply(.ok, .members(("frequencyCaps", .array(caps.map(Self.json)))))
    }

    private func set(_ call: APICall) async throws -> APIReply {
        let (service, name) = try Self.place(call)
        let cap = try FrequencyCapBody(call.body).cap(name, ofService: service)
        let json = try await database.run { store in
            try await store.setFrequencyCap(cap)
            guard let row = try await store.apiFrequencyCaps(ofService: service).first(where: { $0.name == name })
            else {
                throw APIProblem.notFound("frequency cap of this name")
            }
            return Self.json(row)
        }
        return APIReply(.ok, json)
    }

    private func remove(_ call: APICall) async throws -> APIReply {
        let (service, name) = try Self.place(call)
        try await database.run { try await $0.dropFrequencyCap(name, ofService: service) }
        return APIReply(.noContent)
    }

    /// The service and the cap in the path of a call that takes no query.
    private static func place(_ call: APICall) throws(APIProblem) -> (service: String, cap: String) {
        var query = call.query
        try query.close()
        try call.requireAllApplications("frequency caps")
        let service = try call.name("service")
        let cap = call.path["cap"] ?? ""
        if let problem = NameRule.problem(name: cap) { throw .invalid("path:cap", "it \(problem)") }
        return (service, cap)
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

/// The body of setFrequencyCap.
struct FrequencyCapBody: Sendable {
    private let maxMessages: Int32
    private let unit: FrequencyCapRow.Unit
    private let length: Int32
    private let categories: [String]?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let maxMessages = reader.integer("maxMessages", FrequencyCapRow.counts)
        let unit = reader.choice("per", of: FrequencyCapRow.Unit.self)
        let length = reader.integer("length", unit?.lengths ?? FrequencyCapRow.Unit.days.lengths)
        categories = reader.textListOrNull("categories", 1...JSONReader.maxNames, as: .name)
        if maxMessages == nil, reader.faults.isEmpty { reader.note("maxMessages", "it is missing") }
        if unit == nil, reader.faults.isEmpty { reader.note("per", "it is missing") }
        try reader.close()
        self.maxMessages = maxMessages ?? 1
        self.unit = unit ?? .days
        self.length = length ?? 1
    }

    func cap(_ name: String, ofService service: String) -> FrequencyCapRow {
        FrequencyCapRow(
            service: service,
            name: name,
            maxMessages: maxMessages,
            unit: unit,
            length: length,
            categories: categories
        )
    }
}
