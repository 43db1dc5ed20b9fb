import Foundation

/// Sends requests. An app may supply its own transport, for certificate pinning or a proxy.
public protocol PushTransport: Sendable {
    /// Sends a request and waits for the answer. Throws if there is none.
    func send(_ request: PushRequest) async throws -> PushAnswer
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
