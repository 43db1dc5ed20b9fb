import HTTPTypes
import PushCore

/// The OpenAPI 3.1 document of the API, made of its routes, so that it cannot forget one.
struct OpenAPIDocument {
    let routes: [APIRoute]
    let version: String

    /// `GET /openapi.json`: whoever reads it needs no key for that.
    static func route(handle: @escaping @Sendable (APICall) async throws -> APIReply) -> APIRoute {
        APIRoute(
            method: .get,
            path: "/openapi.json",
            operation: "readDocument",
            summary: "This document",
            scope: nil,
            answers: [200: "Document"],
            handle: handle
        )
    }

    var json: JSONValue {
        .members(
            ("openapi", .string("3.1.0")),
            (
                "info",
                .members(
                    ("title", .string("PushMTA")),
                    ("version", .string(version)),
                    ("description", .string(Self.introduction))
                )
            ),
            ("servers", .array([.members(("url", .string(WebAPI.base)))])),
            ("paths", paths),
            (
                "components",
                .members(
                    ("schemas", Self.schemas),
                    (
                        "securitySchemes",
                        .members(
                            (
                                "key",
                                .members(
                                    ("type", .string("http")),
                                    ("scheme", .string("bearer")),
                                    ("description", .string(Self.keys))
                                )
                            )
                        )
                    )
                )
            )
        )
    }

    private static let introduction =
        "Devices, deliveries and single messages of a PushMTA installation, with its templates, seed addresses and exclusion lists. Bodies are JSON in UTF-8; members that are not described are refused. Errors are problem details (RFC 9457) with a code, what to do, and the request's id, which the header x-request-id has, too. Whether the process takes requests is at /health/live and /health/ready, for which no key is needed."

    private static var keys: String {
        let scopes = APIScope.allCases.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: " ")
        return
            "A key that pushmta key create made. A revoked one is refused within 10 seconds. Scopes: \(scopes) A key can be for some applications only; what belongs to others is not there for it, and what belongs to none it cannot change."
    }

    private static var schemas: JSONValue {
        let entries = [
            OpenAPISchemas.common, OpenAPISchemas.devices, OpenAPISchemas.deliveries, OpenAPISchemas.messages,
            OpenAPISchemas.seeds, OpenAPISchemas.exclusions, OpenAPISchemas.templates,
            OpenAPISchemas.checks, OpenAPISchemas.proofs, OpenAPISchemas.statistics, OpenAPISchemas.previews,
        ]
        .flatMap { text -> [JSONEntry] in
            guard case .object(let entries) = JSONValue.stored(text) else { return [] }
            return entries
        }
        return .object(entries)
    }

    private var paths: JSONValue {
        var order: [String] = []
        var operations: [String: [JSONEntry]] = [:]
        for route in routes {
            if operations[route.path] == nil { order.append(route.path) }
            let entry = JSONEntry(name: route.method.rawValue.lowercased(), value: OpenAPIOperation(route: route).json)
            operations[route.path, default: []].append(entry)
        }
        return .object(order.map { JSONEntry(name: $0, value: .object(operations[$0] ?? [])) })
    }
}

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
        let scopes = [route.scope, route.secondScope].compactMap { $0?.rawValue }
        return scopes.isEmpty ? [] : [.members(("key", .texts(scopes)))]
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
            var members: [(String, JSONValue)] = [
                ("description", .string(Self.meaning(status))), ("headers", Self.headers(status)),
            ]
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
                        ("headers", Self.headers(status)),
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
                    ("headers", Self.headers(429)),
                    ("content", .object(forms))
                )
            )
        )
        return .object(entries)
    }

    /// What answers say beside their bodies.
    private static func headers(_ status: Int) -> JSONValue {
        var headers: [(String, String, String)] = [
            ("x-request-id", #"{"type": "string", "minLength": 1}"#, "Names the request in the server's log.")
        ]
        switch status {
        case 201:
            headers.append(("Location", #"{"type": "string", "format": "uri-reference"}"#, "Where it is."))
        case 401, 403:
            headers.append(("WWW-Authenticate", #"{"type": "string"}"#, "As RFC 6750 has it."))
        case 429, 503:
            headers.append(("Retry-After", #"{"type": "integer", "minimum": 1}"#, "Seconds to wait."))
        default: break
        }
        return .object(
            headers.map { name, schema, meaning in
                JSONEntry(
                    name: name,
                    value: .members(("description", .string(meaning)), ("schema", .stored(schema)))
                )
            }
        )
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
