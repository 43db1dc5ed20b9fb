import NIOCore

/// Ends a connection on which nothing comes although somebody waits for it. The time in which what came before is being stored does
/// not count: nothing is read then.
final class SilenceWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private struct Silent: Error, CustomStringConvertible {
        var description: String { "it neither said anything nor closed the connection" }
    }

    private let limit: TimeAmount
    private var alarm: Scheduled<Void>?

    init(limit: TimeAmount) {
        self.limit = limit
    }

    func read(context: ChannelHandlerContext) {
        if alarm == nil {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            alarm = context.eventLoop.scheduleTask(in: limit) {
                bound.value.fireErrorCaught(Silent())
                bound.value.close(promise: nil)
            }
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        quiet()
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        quiet()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        quiet()
    }

    private func quiet() {
        alarm?.cancel()
        alarm = nil
    }
}
