import NIOCore
import NIOHTTP1
import NIOTLS

/// Behind TLS: HTTP/2 for a client that asked for it by ALPN, HTTP/1.1 for any other.
final class ProtocolChoice: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let http2: () -> any ChannelHandler
    private let http1: () -> any ChannelHandler

    /// Makes the handler of a connection when it is known which it needs.
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
