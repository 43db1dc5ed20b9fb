import Foundation

/// A server's answer.
public struct PushAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The body; its first line is shown when the server refuses.
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
