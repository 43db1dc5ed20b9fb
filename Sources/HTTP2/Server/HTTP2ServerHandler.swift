import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// Speaks HTTP/2 as a server on a channel: put it behind `NIOSSLServerHandler` (ALPN `h2`) or on a plain channel.
public final class HTTP2ServerHandler: ChannelInboundHandler {
    public typealias InboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private static let nextID = Atomic<Int>(1)

    private let settings: HTTP2ServerSettings
    private let delegate: any HTTP2ServerDelegate
    private var connection: HTTP2ServerConnection?

    public init(settings: HTTP2ServerSettings, delegate: any HTTP2ServerDelegate) {
        self.settings = settings
        self.delegate = delegate
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive, !isBehindTLS(context) { begin(context) }
    }

    public func channelActive(context: ChannelHandlerContext) {
        if !isBehindTLS(context) { begin(context) }
        context.fireChannelActive()
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // What the delegate does in `opened`, a GOAWAY at once for example, must not break the handshake.
        if case TLSUserEvent.handshakeCompleted = event { begin(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func isBehindTLS(_ context: ChannelHandlerContext) -> Bool {
        (try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)) != nil
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard connection == nil else { return }
        do {
            let id = Self.nextID.add(1, ordering: .relaxed).oldValue
            var settings = settings
            delegate.willOpen(context.channel, &settings)
            let connection = try HTTP2ServerConnection(id: id, context: context, settings: settings)
            self.connection = connection
            delegate.opened(connection)
            connection.flush()
        } catch {
            context.close(promise: nil)
        }
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let connection, !connection.isClosed else { return }
        let buffer = unwrapInboundIn(data)
        do {
            try buffer.withUnsafeReadableBytes { try connection.session.receive($0) }
        } catch {
            connection.close()
        }
    }

    public func channelReadComplete(context: ChannelHandlerContext) {
        if let connection {
            let requests = connection.session.requests
            // What came together with the end is not processed: its sender can only find it ambiguous.
            if !requests.isEmpty, !connection.isClosed {
                connection.session.requests.removeAll(keepingCapacity: true)
                delegate.received(connection, requests: requests)
            }
            connection.flush()
        }
        context.fireChannelReadComplete()
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A peer that breaks TLS or resets the connection ends it; the delegate learns of that from `closed`.
        context.close(promise: nil)
    }

    public func channelInactive(context: ChannelHandlerContext) {
        if let connection {
            connection.channelGone()
            delegate.closed(connection)
        }
        connection = nil
        context.fireChannelInactive()
    }
}
