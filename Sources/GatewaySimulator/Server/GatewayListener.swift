import HTTP2
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS

/// The listening socket of one gateway and its share of each event loop.
final class GatewayListener<Rules: GatewayRules>: Sendable {
    private let socket: ListeningPort
    private let conditions: SharedConditions
    private let loops: [NIOLoopBound<GatewayLoop<Rules>>]

    /// Starts listening.
    ///
    /// - Parameter http1: Makes the handler of an HTTP/1.1 connection; nil if there is only HTTP/2.
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
        ListeningPort.bootstrap(group) { channel in
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
            case .broken:
                try pipeline.addHandler(SenderTLS.handler(tls))
                return try pipeline.addHandler(BrokenProtocol())
            }
            try pipeline.addHandler(SenderTLS.handler(tls))
            let http2 = {
                HTTP2ServerHandler(settings: settings, delegate: GatewayConnection(loop: loop.value))
            }
            guard let http1 else { return try pipeline.addHandler(http2()) }
            try pipeline.addHandler(ProtocolChoice(http2: http2, http1: { http1(loop.value) }))
        }
        // Large reads need fewer system calls, and all their answers are written at once.
        .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
        .childChannelOption(.maxMessagesPerRead, value: 4)
        // The buffer holds the answers to several thousand requests. What a sender does not read waits in its streams.
        .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 * 1_024, high: 1_024 * 1_024))
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

    /// Opens or closes the port as the conditions say, and has every event loop apply them now.
    func refresh() {
        socket.setOpen(conditions.current.plan.outage?.connections != .refused)
        for loop in loops { loop.eventLoop.execute { loop.value.refresh() } }
    }

    /// Stops listening and closes every connection.
    func stop() async {
        await socket.stop()
        for loop in loops { try? await loop.eventLoop.submit { loop.value.shutDown() }.get() }
    }
}

/// Chooses the protocol after the TLS handshake: HTTP/2 if the client negotiated it with ALPN, otherwise HTTP/1.1.
final class ProtocolChoice: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let http2: () -> any ChannelHandler
    private let http1: () -> any ChannelHandler

    /// The closures make a connection's handler once its protocol is known.
    init(http2: @escaping () -> any ChannelHandler, http1: @escaping () -> any ChannelHandler) {
        self.http2 = http2
        self.http1 = http1
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event {
            do {
                let pipeline = context.pipeline.syncOperations
                if negotiated == "h2" {
                    try pipeline.addHandler(http2())
                } else {
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(http1())
                }
            } catch {
                return context.close(promise: nil)
            }
            context.fireUserInboundEventTriggered(event)
            return context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// TLS that requests a sender's certificate and accepts any. APNs judges it after the handshake, with a GOAWAY.
enum SenderTLS {
    /// Configures a server to request a certificate.
    static func ask(_ configuration: inout TLSConfiguration) {
        configuration.certificateVerification = .optionalVerification
    }

    /// The handler of one connection.
    static func handler(_ context: NIOSSLContext) throws -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: context) { _, promise in promise.succeed(.certificateVerified) }
    }

    /// The sender's certificate in DER; nil if there is none.
    static func certificate(_ channel: any Channel) -> [UInt8]? {
        let operations = channel.pipeline.syncOperations
        guard let handler = try? operations.handler(type: NIOSSLServerHandler.self) else { return nil }
        return try? handler.peerCertificate?.toDERBytes()
    }
}
