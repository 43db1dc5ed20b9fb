import Administration
import HTTP2
import NIOCore
import NIOPosix
import Synchronization

/// One timed run of the HTTP/2 engine on one connection: a number of POST requests with bodies, at a number of streams.
final class HTTP2EngineRun: HTTP2ClientDelegate {
    /// Requests queued ahead of the connection come in batches, as an MTA child's come in parts.
    private static let batchSize = 1_000
    private static let batchesAhead = 4

    private struct Progress {
        var submitted = 0
        var completed = 0
        var failed = 0
        var isOpen = false
    }

    private let requests: Int
    private let body: [UInt8]
    private let path: [UInt8]
    private let messageID: [UInt8]
    private let shared: [HTTP2HeaderField]
    private let progress = Mutex(Progress())
    private let client = Mutex<HTTP2ClientPool?>(nil)
    private let finished = AsyncStream<Void>.makeStream()
    private let opened = AsyncStream<Void>.makeStream()

    init(requests: Int, host: String, port: Int, path: String, messageID: String, body: String) {
        self.requests = requests
        self.body = Array(body.utf8)
        self.path = Array(path.utf8)
        self.messageID = Array(messageID.utf8)
        shared = [
            HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
            HTTP2HeaderField(":authority", "\(host):\(port)"), HTTP2HeaderField("apns-topic", "com.example.app"),
            HTTP2HeaderField("apns-push-type", "alert"),
        ]
    }

    /// Runs and measures.
    ///
    /// - Returns: The seconds of wall time and of this process's CPU time, and the number of requests without a 2xx
    ///   answer.
    func run(host: String, port: Int, streams: Int, trustRootsFile: String) async throws -> BenchMeasurement {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var configuration = HTTP2ClientConfiguration(
            host: host,
            port: port,
            connections: ConnectionOptions(requestTimeoutMilliseconds: 60_000, connectTimeoutMilliseconds: 20_000),
            tls: HTTP2TLS(trustRootsFile: trustRootsFile, serverName: "localhost"),
            initialMaxConcurrentStreams: 1
        )
        configuration.maxConcurrentStreams = streams
        let client = HTTP2ClientPool(configuration: configuration, eventLoop: group.next(), delegate: self)
        self.client.withLock { $0 = client }
        try await client.start()
        for await _ in opened.stream { break }
        let startCPU = BenchMeasurement.cpuSeconds(BenchMeasurement.ownProcess)
        let start = ContinuousClock.now
        submitMore()
        for await _ in finished.stream { break }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let cpu = BenchMeasurement.cpuSeconds(BenchMeasurement.ownProcess) - startCPU
        await client.shutdown()
        self.client.withLock { $0 = nil }
        try await group.shutdownGracefully()
        return BenchMeasurement(
            requests: requests,
            seconds: seconds,
            cpuSeconds: cpu,
            failed: progress.withLock { $0.failed }
        )
    }

    private func submitMore() {
        guard let client = client.withLock({ $0 }) else { return }
        while let count = nextBatch() {
            let batch = HTTP2RequestBatch(
                sharedHeaders: shared,
                perRequestHeaderNames: ["apns-id"],
                capacity: count,
                bodies: body
            )
            for _ in 0..<count {
                batch.append(pathPrefix: "", pathSuffix: path[...], headerValue: messageID[...], bodyIn: body.indices)
            }
            client.submit(batch)
        }
    }

    private func nextBatch() -> Int? {
        progress.withLock { progress in
            let ahead = progress.submitted - progress.completed
            let count = min(Self.batchSize, requests - progress.submitted)
            guard count > 0, ahead <= (Self.batchesAhead - 1) * Self.batchSize else { return nil }
            progress.submitted += count
            return count
        }
    }

    func completed(_ completions: [HTTP2Completion]) {
        var failures = 0
        for completion in completions {
            if case .response(let response) = completion.result, response.status == 200 { continue }
            failures += 1
        }
        let isDone = progress.withLock { progress in
            progress.completed += completions.count
            progress.failed += failures
            return progress.completed == requests
        }
        if isDone { finished.continuation.yield() } else { submitMore() }
    }

    func connectionEvent(_ event: HTTP2ConnectionEvent) {
        if case .opened = event { opened.continuation.yield() }
    }
}
