import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A small HTTP/1.1 server on a free port of 127.0.0.1.
final class TestServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        var head: HTTPRequestHead
        var body: [UInt8]
    }

    /// What the server does with a request.
    enum Answer: Sendable {
        case response(status: Int, headers: [(String, String)] = [], body: [UInt8] = [])
        /// The raw bytes, then the end of the connection.
        case raw(String)
        /// Nothing, ever.
        case silence
    }

    private let channel: any Channel
    private let log: Log
    let port: Int

    private init(channel: any Channel, log: Log) {
        self.channel = channel
        self.log = log
        port = channel.localAddress?.port ?? 0
    }

    /// The requests so far.
    var requests: [Request] { log.requests.withLock { $0 } }

    /// How many connections were accepted so far.
    var connections: Int { log.connections.withLock { $0 } }

    /// The address of a path on this server.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// What the server saw.
    final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let connections = Mutex(0)
    }

    static func start(_ answer: @escaping @Sendable (Request) -> Answer) async throws -> TestServer {
        let log = Log()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                log.connections.withLock { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(TestServerHandler(log: log, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return TestServer(channel: channel, log: log)
    }

    func stop() async throws {
        try await channel.close()
    }
}
