import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// The HTTP/2 server of a channel. Add it after `NIOSSLServerHandler` (ALPN `h2`), or to a plain channel.
package final class HTTP2ServerHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private static let nextID = Atomic<Int>(1)

    private let settings: HTTP2ServerSettings
    private let delegate: any HTTP2ServerDelegate
    private var connection: HTTP2ServerConnection?

    package init(settings: HTTP2ServerSettings, delegate: any HTTP2ServerDelegate) {
        self.settings = settings
        self.delegate = delegate
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive, !isBehindTLS(context) { begin(context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        if !isBehindTLS(context) { begin(context) }
        context.fireChannelActive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Begins only now, because what the delegate does in `opened`, such as a GOAWAY, must not break the handshake.
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

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let connection, !connection.isClosed else { return }
        let buffer = unwrapInboundIn(data)
        do {
            try buffer.withUnsafeReadableBytes { try connection.session.receive($0) }
        } catch {
            connection.close()
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if let connection {
            var requests: [HTTP2ServerRequest] = []
            // Requests that arrive together with the connection's end are not processed: their sender can only count
            // them as ambiguous.
            if !connection.session.requests.isEmpty, !connection.isClosed {
                swap(&requests, &connection.session.requests)
                delegate.received(connection, requests: requests)
            }
            connection.flush()
            // Until responses are written, they may refer to ids in the requests' memory.
            connection.session.recycle(&requests)
        }
        context.fireChannelReadComplete()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { connection?.flush() }
        context.fireChannelWritabilityChanged()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A TLS error or a reset ends the connection; the delegate learns of it from `closed`.
        context.close(promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        if let connection {
            connection.channelGone()
            delegate.closed(connection)
        }
        connection = nil
        context.fireChannelInactive()
    }
}
