import Gateways
import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PushCore

/// One connection to the binary gateway. It moves bytes between the channel and ``BinaryConnectionState`` and reports
/// the results to the pool, all on the event loop.
final class BinaryConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Frames are written in chunks of about this size: four TLS records.
    static let piece = 64 * 1_024

    private let pool: BinaryPool
    private(set) var state: BinaryConnectionState<BinaryMessage>
    private var context: ChannelHandlerContext?
    /// How many bytes of the stream the system has accepted.
    private var flushed: UInt64 = 0
    private(set) var closeReason: String?
    /// Whether the pool knows that the connection broke.
    var isCounted = false
    /// When the TLS handshake completed, if it did.
    private(set) var opened: NIODeadline?
    private var output: [UInt8] = []
    /// TLS is being asked for data that it has read and not yet passed on.
    private var isTakingRest = false

    init(pool: BinaryPool) {
        self.pool = pool
        state = BinaryConnectionState(
            silence: UInt64(clamping: pool.silenceMilliseconds) &* 1_000_000,
            timeout: UInt64(clamping: pool.options.connections.requestTimeoutMilliseconds) &* 1_000_000
        )
    }

    /// How many messages may be written now.
    func room(_ limit: Int) -> Int {
        context?.channel.isWritable == true ? state.room(limit) : 0
    }

    // MARK: Life of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event, state.phase == .opening {
            opened = .now()
            perform(.opened)
            pool.connectionOpened(self, peer: context.channel.remoteAddress.map(String.init(describing:)) ?? "")
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // TLS errors while it passes on the rest, on a channel that is already closed, add nothing, and asking again
        // would loop forever.
        guard !isTakingRest else { return }
        // A reset that follows the error packet in the same read arrives as an error. TLS then holds the packet until
        // the end of the read, which never comes.
        if state.phase == .ready || state.phase == .draining {
            isTakingRest = true
            context.pipeline.fireChannelReadComplete()
            isTakingRest = false
        }
        close(String(describing: error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard state.phase != .closed else { return }
        let wasEnding = state.phase == .ending || (state.phase == .draining && state.open == 0)
        perform(.closed)
        pool.connectionClosed(self, reason: closeReason ?? (wasEnding ? nil : "the gateway closed the connection"))
    }

    /// Closes the connection; open messages are resolved when the channel becomes inactive.
    ///
    /// - Parameter reason: nil if the connection ends normally.
    func close(_ reason: String?) {
        if closeReason == nil { closeReason = reason }
        // TLS may take seconds to close; anything written until then would be lost.
        perform(.broken)
        if let reason { pool.broke(self, reason: reason) }
        context?.close(promise: nil)
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        perform(.received(Array(unwrapInboundIn(data).readableBytesView)))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { pool.pumpSoon() }
        context.fireChannelWritabilityChanged()
    }

    func tick() {
        perform(.acknowledged(acknowledged))
        perform(.tick)
    }

    /// Accepts no more messages, and closes when all are resolved.
    func drain() {
        perform(.drain)
    }

    /// How many bytes of the stream have certainly reached the gateway's host.
    ///
    /// The system's send queue counts encrypted bytes, which are never fewer than the plain bytes.
    private var acknowledged: UInt64 {
        guard let channel = context?.channel, let held = SocketQueue.unacknowledgedBytes(channel) else {
            return flushed
        }
        return flushed - min(flushed, UInt64(clamping: held))
    }

    private func perform(_ event: BinaryConnectionState<BinaryMessage>.Event) {
        let actions = state.handle(event, now: NIODeadline.now().uptimeNanoseconds)
        for action in actions {
            switch action {
            case .resolve(let resolved): pool.resolved(resolved)
            case .judged(let decision): pool.judged(self, decision)
            case .close(let reason): close(reason)
            case .unproved(let number): pool.unproved(number)
            }
        }
    }

    // MARK: Writing

    /// Writes messages in one flush. The caller has checked the room and announced them to the owner.
    func send(_ messages: [BinaryMessage], now: Int64) {
        guard let context else { return }
        output.removeAll(keepingCapacity: true)
        var sent: [(message: BinaryMessage, bytes: Int)] = []
        sent.reserveCapacity(messages.count)
        var batch: (itself: GatewayRequestBatch, tokens: ByteColumn, bodies: ByteColumn, frame: BinaryFrame)?
        for message in messages {
            if batch?.itself !== message.batch {
                let frame = BinaryFrame(message.batch.attributes, now: now)
                batch = (message.batch, message.batch.tokens, message.batch.bodies, frame)
            }
            guard let batch else { continue }
            let start = output.count
            batch.frame.append(
                identifier: state.nextIdentifier &+ UInt32(truncatingIfNeeded: sent.count),
                token: batch.tokens[Int(message.row)],
                payload: batch.bodies[Int(message.row)],
                to: &output
            )
            sent.append((message, output.count - start))
        }
        perform(.sent(sent))
        let end = state.written
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: output)))
            .assumeIsolated()
            .whenSuccess { self.flushed = max(self.flushed, end) }
    }
}

/// The common parts of connections to the gateway and to its feedback service.
enum BinaryTLS {
    static func context(_ certificate: ClientCertificate, trustRootsFile: String?) throws -> NIOSSLContext {
        var options = TLSConfiguration.makeClientConfiguration()
        options.minimumTLSVersion = .tlsv12
        // With TLS 1.3, a client completes the handshake before the server checks its certificate, so the first
        // messages would be ambiguous if it is refused. With 1.2 the handshake fails before any message leaves.
        options.maximumTLSVersion = .tlsv12
        options.certificateChain = certificate.certificateChain.map { .certificate($0) }
        options.privateKey = .privateKey(certificate.privateKey)
        if let trustRootsFile { options.trustRoots = .file(trustRootsFile) }
        return try NIOSSLContext(configuration: options)
    }

    private static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        // SNI carries only names; for an address, NIOSSL compares the certificate with the peer's address.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }

    /// Adds TLS to a new channel, after a tunnel if there is a proxy, so that TLS ends at the gateway and not at the
    /// proxy.
    static func add(
        to channel: any Channel,
        _ context: NIOSSLContext,
        _ address: GatewayAddress,
        proxy: HTTP2Proxy?
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        guard let proxy else { return try pipeline.addHandler(handler(context, host: address.host)) }
        let tunnel = TunnelHandler(proxy: proxy, host: address.host, port: address.port) { pipeline, tunnel in
            try pipeline.addHandler(handler(context, host: address.host), position: .after(tunnel))
        }
        try pipeline.addHandler(tunnel)
    }

    static func withUserTimeout(_ bootstrap: ClientBootstrap, milliseconds: Int64) -> ClientBootstrap {
        #if os(Linux)
        // TCP_USER_TIMEOUT (18 in linux/tcp.h): unacknowledged data ends the connection after this time instead of 15
        // minutes of tcp_retries2.
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
        return bootstrap.channelOption(option, value: .init(clamping: milliseconds))
        #else
        return bootstrap
        #endif
    }
}
