import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A small HTTP/1.1 server on a free port of 127.0.0.1.
final class SmallServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        var method: String
        var uri: String
        var headers: [String: String]
        var body: String
    }

    /// What it does with a request; nil hangs up.
    typealias Answer = @Sendable (Request) -> (status: Int, headers: [String: String], body: String)?

    final class Log: Sendable {
        let requests = Mutex<[Request]>([])
    }

    private let channel: any Channel
    private let log: Log

    private init(channel: any Channel, log: Log) {
        self.channel = channel
        self.log = log
    }

    var requests: [Request] { log.requests.withLock { $0 } }

    var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/" }

    static func start(_ answer: @escaping Answer) async throws -> SmallServer {
        let log = Log()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(SmallServerHandler(log: log, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return SmallServer(channel: channel, log: log)
    }

    func stop() async throws {
        try await channel.close()
    }
}
