import HTTPTypes
import PushCore
import Store

/// A path and method of the API: its parameters, its responses and its handler. The OpenAPI document is made from
/// these.
struct APIRoute: Sendable {
    /// The body that a request has.
    enum Body: Sendable, Hashable {
        case none
        /// An object, which may be omitted.
        case optional(schema: String)
        case required(schema: String)

        var schema: String? {
            switch self {
            case .none: nil
            case .optional(let schema), .required(let schema): schema
            }
        }
    }

    /// A parameter in the path, the query string or the header.
    struct Parameter: Sendable {
        let name: String
        let place: String
        let isRequired: Bool
        /// Its JSON Schema, as JSON text.
        let schema: String
        let meaning: String

        static func path(_ name: String, _ schema: String, _ meaning: String) -> Parameter {
            Parameter(name: name, place: "path", isRequired: true, schema: schema, meaning: meaning)
        }

        static func query(_ name: String, _ schema: String, _ meaning: String, required: Bool = false) -> Parameter {
            Parameter(name: name, place: "query", isRequired: required, schema: schema, meaning: meaning)
        }

        static func header(_ name: String, _ schema: String, _ meaning: String) -> Parameter {
            Parameter(name: name, place: "header", isRequired: false, schema: schema, meaning: meaning)
        }
    }

    let method: HTTPRequest.Method
    /// The path below `/api/v1`, with parameters as in `/devices/{id}`.
    let path: String
    /// The operation's id in the OpenAPI document.
    let operation: String
    let summary: String
    /// The description in the OpenAPI document.
    var details = ""
    /// The scope that a key needs; nil if no key is needed.
    let scope: APIScope?
    /// A second scope that a key needs; nil for none.
    var secondScope: APIScope?
    var body = Body.none
    /// The maximum size of its body in bytes, if the general limit is lower.
    var maxBodyBytes = 0
    var parameters: [Parameter] = []
    /// The schema of each successful response, by status; "" for no body.
    let answers: [Int: String]
    /// Problems in addition to those that every route has.
    var problems: Set<APIProblem.Kind> = []
    let handle: @Sendable (APICall) async throws -> APIReply

    static let idParameter = Parameter.path(
        "id",
        #"{"type": "integer", "format": "int64", "minimum": 1}"#,
        "Its id."
    )
}
