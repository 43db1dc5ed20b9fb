import HTTPTypes
import HummingbirdCore

/// The path and query of a request, as sent.
struct WebTarget {
    let path: Substring
    let query: Substring

    /// Splits the target of a request.
    init(_ request: HTTPRequest) {
        let target = request.path ?? ""
        // The usual form is a path; a proxy may send a whole URL.
        guard target.utf8.first == UInt8(ascii: "/") else {
            let uri = URI(target)
            path = uri.path[...]
            query = (uri.query ?? "")[...]
            return
        }
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            path = target[...]
            query = ""
            return
        }
        path = target[..<mark]
        query = target[target.utf8.index(after: mark)...]
    }
}
