import HTTPTypes
import PushCore

/// A route as an operation of the OpenAPI document.
struct OpenAPIOperation {
    let route: APIRoute

    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("operationId", .string(route.operation)), ("summary", .string(route.summary)),
        ]
        if !route.details.isEmpty { members.append(("description", .string(route.details))) }
        members.append(("security", .array(security)))
        if !route.parameters.isEmpty { members.append(("parameters", .array(route.parameters.map(Self.parameter)))) }
        if let schema = route.body.schema {
            var isRequired = false
            if case .required = route.body { isRequired = true }
            members.append(
                (
                    "requestBody",
                    .members(
                        ("required", .boolean(isRequired)),
                        ("content", Self.content("application/json", schema))
                    )
                )
            )
        }
        members.append(("responses", responses))
        return .object(members.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    private var security: [JSONValue] {
        route.scope.map { [.members(("key", .texts([$0.rawValue])))] } ?? []
    }

    private static func parameter(_ parameter: APIRoute.Parameter) -> JSONValue {
        .members(
            ("name", .string(parameter.name)),
            ("in", .string(parameter.place)),
            ("required", .boolean(parameter.isRequired)),
            ("description", .string(parameter.meaning)),
            ("schema", .stored(parameter.schema))
        )
    }

    private static func content(_ type: String, _ schema: String) -> JSONValue {
        .members((type, .members(("schema", .members(("$ref", .string("#/components/schemas/\(schema)")))))))
    }

    /// The problems that it can end with, those that all routes have included.
    private var problems: Set<APIProblem.Kind> {
        var problems = route.problems.union([.invalidValue, .malformedRequest, .tooLarge, .internalError])
        // A body where none belongs is read, too.
        problems.insert(.unsupportedMediaType)
        if route.scope != nil {
            problems.formUnion([.unauthenticated, .missingScope, .unavailable, .resultUnknown])
        }
        return problems
    }

    private var responses: JSONValue {
        var entries = route.answers.sorted { $0.key < $1.key }.map { status, schema in
            var members: [(String, JSONValue)] = [("description", .string(Self.meaning(status)))]
            if !schema.isEmpty { members.append(("content", Self.content("application/json", schema))) }
            return JSONEntry(name: String(status), value: .object(members.map { JSONEntry(name: $0.0, value: $0.1) }))
        }
        let kinds = Dictionary(grouping: problems, by: \.status.code)
        for (status, kinds) in kinds.sorted(by: { $0.key < $1.key }) {
            let words = kinds.sorted { $0.rawValue < $1.rawValue }.map { "\($0.rawValue): \($0.title)." }
            entries.append(
                JSONEntry(
                    name: String(status),
                    value: .members(
                        ("description", .string(words.joined(separator: " "))),
                        ("content", Self.content("application/problem+json", "Problem"))
                    )
                )
            )
        }
        let text = JSONEntry(name: "text/plain", value: .members(("schema", .members(("type", .string("string"))))))
        // Where a key is asked for, it may be told of the keys before it.
        var forms = [text]
        if route.scope != nil, case .object(let problem) = Self.content("application/problem+json", "Problem") {
            forms += problem
        }
        entries.append(
            JSONEntry(
                name: "429",
                value: .members(
                    (
                        "description",
                        .string(
                            "The client's address sends too many requests, or too many keys that are not accepted; Retry-After says when to go on."
                        )
                    ),
                    ("content", .object(forms))
                )
            )
        )
        return .object(entries)
    }

    private static func meaning(_ status: Int) -> String {
        switch status {
        case 201: "It is made."
        case 202: "It is taken and will be sent."
        case 204: "It is done."
        default: "As asked for."
        }
    }
}
