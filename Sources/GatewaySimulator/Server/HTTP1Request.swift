/// A complete HTTP/1.1 request.
struct HTTP1Request: Sendable {
    var method: String
    /// Without the query.
    var path: String
    var query: [String: String]
    var body: [UInt8]

    /// A request with the target from the request line.
    init(method: String, target: String, body: [UInt8]) {
        self.method = method
        self.body = body
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? "/"
        query = parts.count > 1 ? FormFields.decode(parts[1].utf8) : [:]
    }
}
