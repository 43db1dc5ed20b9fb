import NIOCore
import NIOEmbedded

@testable import HTTP2

/// A client connection without a network: the test plays the server, frame by frame, and the clock.
final class EmbeddedConnection {
    let probe = ClientProbe()
    let channel: EmbeddedChannel
    let pool: HTTP2ClientPool
    let connection: HTTP2ClientConnection

    /// - Parameters:
    ///   - swallowsClose: the channel does not close when told to, as with TLS whose peer has disappeared.
    ///   - proxy: the test plays this proxy first; a plain tunnel goes to the connection's host.
    init(
        initialLimit: Int = 100,
        swallowsClose: Bool = false,
        through proxy: HTTP2Proxy? = nil,
        change: (inout HTTP2ClientConfiguration) -> Void = { _ in }
    ) throws {
        // No connections of its own: this one is given to the pool.
        var configuration = HTTP2ClientConfiguration(
            host: "localhost",
            port: 1,
            connections: ConnectionOptions(
                count: 0,
                requestTimeoutMilliseconds: 60_000,
                connectTimeoutMilliseconds: 20_000
            ),
            tls: nil,
            initialMaxConcurrentStreams: initialLimit
        )
        change(&configuration)
        channel = EmbeddedChannel()
        pool = HTTP2ClientPool(configuration: configuration, eventLoop: channel.embeddedEventLoop, delegate: probe)
        connection = try HTTP2ClientConnection(configuration: configuration, pool: pool)
        if let proxy {
            let tunnel = TunnelHandler(proxy: proxy, host: configuration.host, port: configuration.port) { _, _ in }
            try channel.pipeline.syncOperations.addHandler(tunnel)
        }
        if swallowsClose { try channel.pipeline.syncOperations.addHandler(CloseSwallower()) }
        try channel.pipeline.syncOperations.addHandler(connection)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        pool.adopt(connection)
    }

    /// Gives the pool a second connection, on its own channel, whose server allows this many streams.
    func anotherConnection(limit: UInt32) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: channel.embeddedEventLoop)
        let connection = try HTTP2ClientConnection(configuration: pool.configuration, pool: pool)
        try channel.pipeline.syncOperations.addHandler(connection)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        pool.adopt(connection)
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: Frame.settings([(Frame.maxConcurrentStreams, limit)])))
        channel.pipeline.fireChannelReadComplete()
        channel.embeddedEventLoop.run()
        return channel
    }

    /// The server's bytes arrive, in one read.
    func serverSays(_ bytes: [UInt8]...) {
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes.joined()))
        channel.pipeline.fireChannelReadComplete()
        channel.embeddedEventLoop.run()
    }

    /// The frames that the client has written since the last call.
    func clientSaid() throws -> [Frame] { Frame.parse(try written()) }

    /// What the client has written since the last call, as text.
    func text() throws -> String { String(decoding: try written(), as: UTF8.self) }

    private func written() throws -> [UInt8] {
        channel.embeddedEventLoop.run()
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += Array(buffer.readableBytesView) }
        return bytes
    }

    /// Completes the start of the connection.
    func open(limit: UInt32 = 100) throws {
        serverSays(Frame.settings([(Frame.maxConcurrentStreams, limit)]))
        serverSays(Frame.settingsAcknowledgement)
        _ = try clientSaid()
    }

    func submit(_ count: Int, tag: Int64 = 1, body: (Int) -> String = { "\($0)" }) {
        pool.submit(TestBatch.make(count, tag: tag, body: body))
        channel.embeddedEventLoop.run()
    }

    var seen: ClientProbe.Seen { probe.seen.value }
}

private final class CloseSwallower: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        promise?.succeed()
    }
}
