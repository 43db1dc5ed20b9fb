import HTTPTypes
import PushCore

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
