import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with the system's URL loading; redirects are not followed.
public struct URLSessionTransport: PushTransport {
    /// A session keeps its delegate until it is told that it is needed no more.
    private final class Owner: Sendable {
        let session: URLSession
        let collector = AnswerCollector()

        init(_ configuration: URLSessionConfiguration) {
            session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
        }

        deinit { session.finishTasksAndInvalidate() }
    }

    private let owner: Owner

    /// Makes a transport. The time is that of Adobe's SDK, for connecting and for reading.
    public init(timeout seconds: Double = 30) {
        // Neither cookies nor a cache: a tracking hit that a cache answers is lost.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = seconds
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        owner = Owner(configuration)
    }

    /// Sends a request and waits for the answer.
    public func send(_ request: PushRequest) async throws -> PushAnswer {
        guard let url = URL(string: request.url) else { throw URLError(.badURL) }
        var message = URLRequest(url: url)
        message.httpMethod = request.method
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        message.httpBody = request.body.map { Data($0.utf8) }
        let (body, response) = try await owner.collector.answer(to: owner.session.dataTask(with: message)).get()
        return PushAnswer(
            status: response.statusCode,
            body: body,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After")
        )
    }
}
