import HTTPTypes
import PushCore
import Store

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
