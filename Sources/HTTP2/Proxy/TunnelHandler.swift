import NIOCore

/// Asks a proxy for a tunnel, then leaves the channel to what stands behind it.
///
/// It has to be the first handler of the channel. What stands behind it learns that the channel is active when the tunnel is
/// there, and of an error when it is not.
public final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private let proxy: HTTP2Proxy
    private let target: String
    private let whenOpen: (ChannelPipeline.SynchronousOperations, TunnelHandler) throws -> Void
    private var answer = TunnelAnswer()
    private var isDone = false

    /// - Parameter whenOpen: called when the tunnel is there, to put TLS right after the handler.
    public init(
        proxy: HTTP2Proxy,
        host: String,
        port: Int,
        whenOpen: @escaping (ChannelPipeline.SynchronousOperations, TunnelHandler) throws -> Void
    ) {
        self.proxy = proxy
        target = HTTP2Proxy.authority(host, port)
        self.whenOpen = whenOpen
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { ask(context) }
    }

    public func channelActive(context: ChannelHandlerContext) {
        ask(context)
    }

    private func ask(_ context: ChannelHandlerContext) {
        var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\nUser-Agent: PushMTA\r\n"
        if let authorization = proxy.authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        switch answer.append(unwrapInboundIn(data).readableBytesView) {
        case .incomplete: break
        case .refused(let reason): fail(context, "refuses a tunnel to \(target): \(reason)")
        case .open(let rest): open(context, rest)
        }
    }

    /// What stands behind may write when a read ends, and before there is a tunnel that would go to the proxy in the clear: an
    /// answer may come in several reads.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if isDone { context.fireChannelReadComplete() }
    }

    private func open(_ context: ChannelHandlerContext, _ rest: [UInt8]) {
        isDone = true
        do {
            try whenOpen(context.pipeline.syncOperations, self)
        } catch {
            return context.fireErrorCaught(error)
        }
        context.fireChannelActive()
        if !rest.isEmpty {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    public func channelInactive(context: ChannelHandlerContext) {
        if !isDone { fail(context, "ended the connection before there was a tunnel to \(target)") }
        context.fireChannelInactive()
    }

    private func fail(_ context: ChannelHandlerContext, _ what: String) {
        isDone = true
        context.fireErrorCaught(HTTP2ProxyError("the proxy \(proxy) \(what)"))
    }
}
