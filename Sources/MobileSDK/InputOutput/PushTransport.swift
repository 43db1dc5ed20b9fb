import Foundation

/// Sends requests. An app may supply its own transport, for certificate pinning or a proxy.
public protocol PushTransport: Sendable {
    /// Sends a request and waits for the answer. Throws if there is none.
    func send(_ request: PushRequest) async throws -> PushAnswer
}

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

/// A server's answer.
public struct PushAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The body. If the server refuses, its first line is reported.
    public var body: Data
    /// The header `Retry-After`, if the server sent it.
    public var retryAfter: String?

    /// Makes an answer.
    public init(status: Int, body: Data = Data(), retryAfter: String? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}
