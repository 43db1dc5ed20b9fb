import NIOCore

/// Closes a connection before its first byte, because its client has too many or there is no room for it.
package final class RefusedConnection: ChannelInboundHandler, Sendable {
    package typealias InboundIn = ByteBuffer

    package init() {}

    package func channelActive(context: ChannelHandlerContext) {
        context.close(promise: nil)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
