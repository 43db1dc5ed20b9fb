import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with the system's URL loading.
public struct URLSessionTransport: PushTransport {
    private let session: URLSession

    /// Makes a transport. The time is that of Adobe's SDK, for connecting and for reading.
    public init(timeout seconds: Double = 30) {
        // Neither cookies nor a cache: a tracking hit that a cache answers is lost.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = seconds
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    /// Sends a request and waits for the answer.
    public func send(_ request: PushRequest) async throws -> PushAnswer {
        guard let url = URL(string: request.url) else { throw URLError(.badURL) }
        var message = URLRequest(url: url)
        message.httpMethod = request.method
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        message.httpBody = request.body.map { Data($0.utf8) }
        let (body, response) = try await session.data(for: message)
        guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return PushAnswer(
            status: answer.statusCode,
            body: body,
            retryAfter: answer.value(forHTTPHeaderField: "Retry-After")
        )
    }
}
