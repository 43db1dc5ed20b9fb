import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// The listening socket of one gateway and its share of each event loop.
final class GatewayListener<Rules: GatewayRules>: Sendable {
    private let socket: ListeningPort
    private let conditions: SharedConditions
    private let loops: [NIOLoopBound<GatewayLoop<Rules>>]

    /// Begins to listen.
    ///
    /// - Parameter http1: Makes the handler of a connection over HTTP/1.1; nil where there is HTTP/2 only.
    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext,
        loops: [NIOLoopBound<GatewayLoop<Rules>>],
        conditions: SharedConditions,
        settings: HTTP2ServerSettings,
        http1: (@Sendable (GatewayLoop<Rules>) -> any ChannelHandler)?
    ) async throws -> GatewayListener {
        let socket = try await ListeningPort.open(port) {
            bootstrap(group, tls, loops, settings, http1).bind(host: host, port: $0)
        }
        return GatewayListener(socket: socket, conditions: conditions, loops: loops)
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup,
        _ tls: NIOSSLContext,
        _ loops: [NIOLoopBound<GatewayLoop<Rules>>],
        _ settings: HTTP2ServerSettings,
        _ http1: (@Sendable (GatewayLoop<Rules>) -> any ChannelHandler)?
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
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
                    loop.value.recorder.countInOutage(1, \.dials)
                    let pipeline = channel.pipeline.syncOperations
                    switch loop.value.plan.outage?.connections {
                    case nil: break
                    case .refused, .closed: return channel.close(promise: nil)
                    case .tlsAlert: return try pipeline.addHandler(RefusedHandshake())
                    }
                    try pipeline.addHandler(SenderTLS.handler(tls))
                    let http2 = {
                        HTTP2ServerHandler(settings: settings, delegate: GatewayConnection(loop: loop.value))
                    }
                    guard let http1 else { return try pipeline.addHandler(http2()) }
                    try pipeline.addHandler(ProtocolChoice(http2: http2, http1: { http1(loop.value) }))
                }
            }
    }

    private init(
        socket: ListeningPort,
        conditions: SharedConditions,
        loops: [NIOLoopBound<GatewayLoop<Rules>>]
    ) {
        self.socket = socket
        self.conditions = conditions
        self.loops = loops
    }

    var port: Int { socket.number }

    /// Closes or opens the port as the conditions say, and makes every event loop look at them now.
    func refresh() {
        socket.setOpen(conditions.current.plan.outage?.connections != .refused)
        for loop in loops { loop.eventLoop.execute { loop.value.refresh() } }
    }

    /// Stops listening and ends every connection.
    func stop() async {
        await socket.stop()
        for loop in loops { try? await loop.eventLoop.submit { loop.value.shutDown() }.get() }
    }
}
