/// Sends requests; an app may bring its own, for certificate pinning or a proxy.
public protocol PushTransport: Sendable {
    /// Sends a request and waits for the answer. Throws when no answer came.
    func send(_ request: PushRequest) async throws -> PushAnswer
}
