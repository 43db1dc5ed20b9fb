import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// The listening socket of one gateway and its share of each event loop.
final class GatewayListener<Rules: GatewayRules>: Sendable {
    let channel: any Channel
    private let loops: [NIOLoopBound<GatewayLoop<Rules>>]

    /// Begins to listen.
    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext,
        loops: [NIOLoopBound<GatewayLoop<Rules>>],
        settings: HTTP2ServerSettings
    ) async throws -> GatewayListener {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Long reads: fewer system calls, and all their answers leave in one write.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let loop = loops.first(where: { $0.eventLoop === channel.eventLoop }) else {
                        throw SimulatorError(
                            .listen,
                            "a connection was accepted on an event loop that the simulator does not own"
                        )
                    }
                    loop.value.refresh()
                    let connection = GatewayConnection(loop: loop.value)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(SenderTLS.handler(tls))
                    try pipeline.addHandler(HTTP2ServerHandler(settings: settings, delegate: connection))
                }
            }
            .bind(host: host, port: port).get()
        return GatewayListener(channel: channel, loops: loops)
    }

    private init(channel: any Channel, loops: [NIOLoopBound<GatewayLoop<Rules>>]) {
        self.channel = channel
        self.loops = loops
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Makes every event loop look at the conditions now.
    func refresh() {
        for loop in loops { loop.eventLoop.execute { loop.value.refresh() } }
    }

    /// Stops listening and ends every connection.
    func stop() async {
        try? await channel.close().get()
        for loop in loops { try? await loop.eventLoop.submit { loop.value.shutDown() }.get() }
    }
}
