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
        "Devices, deliveries and single messages of a PushMTA installation. Bodies are JSON in UTF-8; members that are not described are refused. Errors are problem details (RFC 9457) with a code, what to do, and the request's id, which the header x-request-id has, too. Whether the process takes requests is at /health/live and /health/ready, for which no key is needed."

    private static var keys: String {
        let scopes = APIScope.allCases.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: " ")
        return
            "A key that pushmta key create made. A revoked one is refused within 10 seconds. Scopes: \(scopes) A key can be for some applications only; what belongs to others is not there for it."
    }

    private static var schemas: JSONValue {
        let entries = [
            OpenAPISchemas.common, OpenAPISchemas.devices, OpenAPISchemas.deliveries, OpenAPISchemas.messages,
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
