import HTTPTypes
import PushCore

/// The OpenAPI 3.1 document of the API, generated from its routes so that none is missing.
struct OpenAPIDocument {
    let routes: [APIRoute]
    let version: String

    /// `GET /openapi.json`, which needs no key.
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
        "Devices, deliveries and single messages of a PushMTA installation, with its templates, seed addresses and exclusion lists. Bodies are JSON in UTF-8; unknown members are refused. Errors are problem details (RFC 9457) with a code, a remedy and the request's id, which is also in the header x-request-id. /health/live and /health/ready, which need no key, show whether the process accepts requests."

    private static var keys: String {
        let scopes = APIScope.allCases.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: " ")
        return
            "A key made with pushmta key create. A revoked key is refused within 10 seconds. Scopes: \(scopes) A key can be limited to some applications: objects of other applications do not exist for it, and objects that belong to no application cannot be changed with it."
    }

    private static var schemas: JSONValue {
        let entries = [
            OpenAPISchemas.common, OpenAPISchemas.devices, OpenAPISchemas.deliveries, OpenAPISchemas.messages,
            OpenAPISchemas.seeds, OpenAPISchemas.exclusions, OpenAPISchemas.templates,
            OpenAPISchemas.analyses, OpenAPISchemas.approvals, OpenAPISchemas.plans, OpenAPISchemas.recalls,
            OpenAPISchemas.recurrences, OpenAPISchemas.experiments,
            OpenAPISchemas.audiences,
            OpenAPISchemas.checks, OpenAPISchemas.proofs, OpenAPISchemas.statistics, OpenAPISchemas.previews,
            OpenAPISchemas.events, OpenAPISchemas.webhooks,
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

    /// The problems that it can return, including those of all routes.
    private var problems: Set<APIProblem.Kind> {
        var problems = route.problems.union([.invalidValue, .malformedRequest, .tooLarge, .internalError])
        // A body is also read if the route has none.
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
        // A route with a key may also refuse a client that has sent too many invalid keys.
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
                            "The client's address has sent too many requests, or too many keys that are not accepted; Retry-After says when to continue."
                        )
                    ),
                    ("headers", Self.headers(429)),
                    ("content", .object(forms))
                )
            )
        )
        return .object(entries)
    }

    /// The header fields of responses.
    private static func headers(_ status: Int) -> JSONValue {
        var headers: [(String, String, String)] = [
            ("x-request-id", #"{"type": "string", "minLength": 1}"#, "The request's id in the server's log.")
        ]
        switch status {
        case 201:
            headers.append(("Location", #"{"type": "string", "format": "uri-reference"}"#, "The new path."))
        case 401, 403:
            headers.append(("WWW-Authenticate", #"{"type": "string"}"#, "See RFC 6750."))
        case 429, 503:
            headers.append(("Retry-After", #"{"type": "integer", "minimum": 1}"#, "The number of seconds to wait."))
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
        case 201: "Created."
        case 202: "Accepted; the rest is done in the background."
        case 204: "Done."
        default: "Success."
        }
    }
}
