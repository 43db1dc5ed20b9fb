/// A request that the SDK wants sent.
public struct PushRequest: Sendable, Equatable {
    /// `GET` or `POST`.
    public var method: String
    /// The address.
    public var url: String
    /// Headers beside those that the transport adds.
    public var headers: [String: String]
    /// The form, if there is one.
    public var body: String?

    /// Makes a request.
    public init(method: String, url: String, headers: [String: String], body: String?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
