import HTTPTypes
import PushCore
import Store

/// An authorised request, as passed to routes.
struct APICall: Sendable {
    /// The values in the path, by the names of the route's parameters.
    let path: [String: String]
    let query: APIQuery
    let head: HTTPFields
    /// The body; an empty object if there is none.
    let body: JSONValue
    /// Nil if no key is needed.
    let key: VerifiedAPIKey?

    /// The id in the path, in exactly the form that responses have.
    func id(_ what: String) throws(APIProblem) -> Int64 {
        guard let text = path["id"], let id = Int64(text), id > 0, String(id) == text else {
            throw .invalid("path:id", "the id of a \(what) is a positive integer")
        }
        return id
    }

    /// The delivery in the path of a call that takes no query.
    func delivery() throws(APIProblem) -> Int64 {
        var rest = query
        try rest.close()
        return try id("delivery")
    }

    /// The applications that the key is limited to; nil for all.
    var applications: [Int32]? { key?.applicationIDs.map { $0.sorted() } }

    /// Whether the key has a scope.
    func has(_ scope: APIScope) -> Bool { key?.scopes.contains(scope) ?? false }

    /// Whether the key allows an application.
    func allows(_ application: Int32) -> Bool { key?.allows(application: application) ?? false }
}
