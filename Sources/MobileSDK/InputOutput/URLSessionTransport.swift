import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with the system's URL loading. It does not follow redirects.
public struct URLSessionTransport: PushTransport {
    /// Invalidates the session at its end, because a session retains its delegate until it is invalidated.
    private final class Owner: Sendable {
        let session: URLSession
        let collector = AnswerCollector()

        init(_ configuration: URLSessionConfiguration) {
            session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
        }

        deinit { session.finishTasksAndInvalidate() }
    }

    private let owner: Owner

    /// Makes a transport. The default timeout, for connecting and for reading, is that of Adobe's SDK.
    public init(timeout seconds: Double = 30) {
        // No cookies and no cache: a tracking hit answered by a cache would be lost.
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

/// Collects the answers of a session's requests and treats a redirect as the final answer.
///
/// Following a redirect would turn a registration into a GET of some page, whose status 200 would look like success. On
/// Linux a session asks its delegate about redirects only if nothing but the delegate receives the answer.
final class AnswerCollector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Answer = Result<(body: Data, response: HTTPURLResponse), any Error>

    private struct Exchange {
        var body = Data()
        let continuation: CheckedContinuation<Answer, Never>
    }

    /// The maximum number of body bytes to keep; the SDK uses only the first line.
    private static let maxBytes = 4 * TransportResult.longestReason

    // The lock guards the mutable state, so the class can be Sendable. Mutex needs iOS 18.
    private let lock = NSLock()
    private var exchanges: [Int: Exchange] = [:]

    /// Starts a task and waits for its answer or its timeout. Cancelling the caller does not cancel the task: on Linux
    /// the system's code traps if a task that has just ended is cancelled.
    func answer(to task: URLSessionDataTask) async -> Answer {
        await withCheckedContinuation { continuation in
            lock.withLock { exchanges[task.taskIdentifier] = Exchange(continuation: continuation) }
            task.resume()
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock {
            guard let count = exchanges[dataTask.taskIdentifier]?.body.count, count < Self.maxBytes else { return }
            exchanges[dataTask.taskIdentifier]?.body.append(data.prefix(Self.maxBytes - count))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = lock.withLock({ exchanges.removeValue(forKey: task.taskIdentifier) }) else { return }
        let answer: Answer =
            if let error { .failure(error) } else if let response = task.response as? HTTPURLResponse {
                .success((exchange.body, response))
            } else { .failure(URLError(.badServerResponse)) }
        exchange.continuation.resume(returning: answer)
    }
}
