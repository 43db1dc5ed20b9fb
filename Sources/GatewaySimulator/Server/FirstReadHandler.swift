import NIOCore

/// Calls a function once, when the first bytes of the peer have been handled: TLS is up then and the client's preface has come.
final class FirstReadHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var callback: (() -> Void)?

    init(_ callback: @escaping () -> Void) {
        self.callback = callback
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        guard let callback else { return }
        self.callback = nil
        callback()
    }
}
