/// A request of the SDK.
public struct PushRequest: Sendable, Equatable {
    /// `GET` or `POST`.
    public var method: String
    /// The URL.
    public var url: String
    /// Headers in addition to those that the transport adds.
    public var headers: [String: String]
    /// The form, if any.
    public var body: String?

    /// Makes a request.
    public init(method: String, url: String, headers: [String: String], body: String?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
