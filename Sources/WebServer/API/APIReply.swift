import HTTPTypes
import PushCore

/// The response to a request.
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
