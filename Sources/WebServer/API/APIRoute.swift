import HTTPTypes
import PushCore

/// A path and method of the API: what it takes, what it answers, and who does it. The OpenAPI document is made of these.
struct APIRoute: Sendable {
    /// What a request's body is.
    enum Body: Sendable, Hashable {
        case none
        /// An object, which may be left out.
        case optional(schema: String)
        case required(schema: String)

        var schema: String? {
            switch self {
            case .none: nil
            case .optional(let schema), .required(let schema): schema
            }
        }
    }

    /// A parameter of the path, the query string or the head.
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

        static func query(_ name: String, _ schema: String, _ meaning: String) -> Parameter {
            Parameter(name: name, place: "query", isRequired: false, schema: schema, meaning: meaning)
        }

        static func header(_ name: String, _ schema: String, _ meaning: String) -> Parameter {
            Parameter(name: name, place: "header", isRequired: false, schema: schema, meaning: meaning)
        }
    }

    let method: HTTPRequest.Method
    /// Below `/api/v1`, with parameters as in `/devices/{id}`.
    let path: String
    /// Its name in the OpenAPI document.
    let operation: String
    let summary: String
    /// What more there is to know of it.
    var details = ""
    /// What a key needs for it; nil: no key is needed.
    let scope: APIScope?
    var body = Body.none
    /// What its body may have, where the general limit is less.
    var mostBodyBytes = 0
    var parameters: [Parameter] = []
    /// The schema of each answer that is no problem; "" for one without a body.
    let answers: [Int: String]
    /// Problems beside those that every route has.
    var problems: Set<APIProblem.Kind> = []
    let handle: @Sendable (APICall) async throws -> APIReply

    static let idParameter = Parameter.path(
        "id",
        #"{"type": "integer", "format": "int64", "minimum": 1}"#,
        "Its id."
    )
}
