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

/// Collects the answers of a session's requests, and takes a redirect as the answer that it is.
///
/// A registration becomes a GET of some page on its way: the page's 200 would say that the server has it. On Linux a session asks
/// its delegate about redirects only when nothing but the delegate gets the answer.
final class AnswerCollector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Answer = Result<(body: Data, response: HTTPURLResponse), any Error>

    private struct Exchange {
        var body = Data()
        let continuation: CheckedContinuation<Answer, Never>
    }

    /// An SDK looks at the first line of an answer only.
    private static let mostBytes = 4 * TransportResult.longestReason

    // The lock guards what changes, which is why this may be sent; Mutex is of iOS 18.
    private let lock = NSLock()
    private var exchanges: [Int: Exchange] = [:]

    /// Starts a task and waits for its answer, or for the end of its time. It is not cancelled with whoever waits: on Linux the
    /// system's code traps when a task is cancelled that has just ended.
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
            guard let count = exchanges[dataTask.taskIdentifier]?.body.count, count < Self.mostBytes else { return }
            exchanges[dataTask.taskIdentifier]?.body.append(data.prefix(Self.mostBytes - count))
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
