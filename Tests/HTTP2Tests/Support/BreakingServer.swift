import NIOCore
import NIOPosix
import NIOSSL

/// A TLS server that says nonsense where HTTP/2 belongs, and leaves its sockets open whatever the other side does.
final class BreakingServer: Sendable {
    /// When it says it.
    enum Moment: Sendable {
        case atOnce
        /// With its SETTINGS, and then with what comes first.
        case afterSettings
    }

    let accepted = Observed(0)
    let port: Int
    private let channel: any Channel

    init(_ moment: Moment) async throws {
        let context = try TestCertificate.shared.get().serverContext()
        let accepted = accepted
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.update { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), Breaker(moment),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await channel.close()
    }

    private final class Breaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let moment: Moment
        private var hasSpoken = false

        init(_ moment: Moment) {
            self.moment = moment
        }

        /// The client's preface, and for `afterSettings` a second read with what it sends when it has seen the SETTINGS.
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let nonsense = Frame(kind: .data, flags: Frame.endStream, stream: 99, payload: [1]).bytes
            if moment == .afterSettings, !hasSpoken {
                hasSpoken = true
                return write(context, Frame.settings([(Frame.maxConcurrentStreams, 100)]))
            }
            write(context, moment == .atOnce ? Frame.settings() + nonsense : nonsense)
            // What comes now, the end of TLS for one, is not read any more.
            context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        }

        private func write(_ context: ChannelHandlerContext, _ bytes: [UInt8]) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }
}
