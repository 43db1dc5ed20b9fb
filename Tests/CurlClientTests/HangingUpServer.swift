import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server that answers the first requests of a connection and hangs up on the next one.
final class HangingUpServer: Sendable {
    /// When it hangs up.
    enum Moment: Sendable {
        /// As soon as the request's head is there.
        case head
        /// When the whole request is there.
        case end
    }

    private let channel: any Channel
    private let seen: Seen

    /// What it saw.
    final class Seen: Sendable {
        let heads = Mutex(0)
    }

    private init(channel: any Channel, seen: Seen) {
        self.channel = channel
        self.seen = seen
    }

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/" }

    /// Request heads so far, on all connections.
    var heads: Int { seen.heads.withLock { $0 } }

    static func start(answers: Int, then moment: Moment) async throws -> HangingUpServer {
        let seen = Seen()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        HangingUpHandler(answers: answers, moment: moment, seen: seen)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return HangingUpServer(channel: channel, seen: seen)
    }

    func stop() async throws {
        try await channel.close()
    }
}

/// One connection to it.
final class HangingUpHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answers: Int
    private let moment: HangingUpServer.Moment
    private let seen: HangingUpServer.Seen
    private var requests = 0

    init(answers: Int, moment: HangingUpServer.Moment, seen: HangingUpServer.Seen) {
        self.answers = answers
        self.moment = moment
        self.seen = seen
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            requests += 1
            seen.heads.withLock { $0 += 1 }
            if requests > answers, moment == .head { context.close(promise: nil) }
        case .body: break
        case .end:
            guard requests <= answers else { return context.close(promise: nil) }
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
