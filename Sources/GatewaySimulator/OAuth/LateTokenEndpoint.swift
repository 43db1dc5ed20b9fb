import Synchronization

/// A token endpoint that listens before it can answer: the service account's file names its port.
final class LateTokenEndpoint: Sendable {
    private let endpoint = Mutex<TokenEndpoint?>(nil)

    /// From now on requests are answered.
    func set(_ endpoint: TokenEndpoint) {
        self.endpoint.withLock { $0 = endpoint }
    }

    /// Answers one request.
    func answer(_ request: HTTP1Request) -> HTTP1Answer? {
        guard let endpoint = endpoint.withLock({ $0 }) else { return .error(503, "the token endpoint is starting") }
        return endpoint.answer(request)
    }
}
