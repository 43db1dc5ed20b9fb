import HTTPTypes
import PushCore
import Store

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
    /// What it needs besides; nil: nothing.
    var secondScope: APIScope?
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

/// A request that may be done, as routes see it.
struct APICall: Sendable {
    /// What stands in the path, by the names of the route's parameters.
    let path: [String: String]
    let query: APIQuery
    let head: HTTPFields
    /// The body; an empty object if there is none.
    let body: JSONValue
    /// Nil where no key is needed.
    let key: VerifiedAPIKey?

    /// The id in the path, in the only form that answers have it in.
    func id(_ what: String) throws(APIProblem) -> Int64 {
        guard let text = path["id"], let id = Int64(text), id > 0, String(id) == text else {
            throw .invalid("path:id", "the id of a \(what) is a whole number above 0")
        }
        return id
    }

    /// The applications that the key is for; nil: all.
    var applications: [Int32]? { key?.applicationIDs.map { $0.sorted() } }

    /// Whether the key is for an application.
    func allows(_ application: Int32) -> Bool { key?.allows(application: application) ?? false }
}

/// What a request is answered with.
struct APIReply: Sendable {
    var status: HTTPResponse.Status
    /// Nil for no body.
    var body: JSONValue?
    var headers = HTTPFields()

    init(_ status: HTTPResponse.Status = .ok, _ body: JSONValue? = nil) {
        self.status = status
        self.body = body
    }
}

/// The parameters of a query string; all that is wrong with them is noted.
struct APIQuery: Sendable {
    private var values: [String: String] = [:]
    private(set) var faults: [APIProblem.Fault] = []
    private var known: Set<String> = []

    init(_ query: Substring) throws(APIProblem) {
        guard !query.isEmpty else { return }
        var form = FormParameters()
        do {
            try form.read(Array(query.utf8))
        } catch {
            throw .invalid("query", error.description)
        }
        values = form.values
    }

    mutating func text(_ name: String, most: Int) -> String? {
        known.insert(name)
        guard let value = values[name] else { return nil }
        if value.isEmpty || value.utf8.count > most || value.utf8.contains(0) {
            note(name, "1 to \(most) bytes without U+0000 are taken")
            return nil
        }
        return value
    }

    mutating func integer<Number: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Number>) -> Number? {
        known.insert(name)
        guard let value = values[name] else { return nil }
        guard let number = Number(value), range.contains(number), String(number) == value else {
            note(name, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
            return nil
        }
        return number
    }

    mutating func note(_ name: String, _ problem: String) {
        faults.append(APIProblem.Fault(path: "query:\(name)", problem: problem))
    }

    /// Throws what was noted, and parameters that nobody asked for.
    mutating func close() throws(APIProblem) {
        for name in values.keys.sorted().prefix(20) where !known.contains(name) {
            note(String(name.prefix(100)), "there is no such parameter")
        }
        if !faults.isEmpty { throw .invalid(faults) }
    }
}
