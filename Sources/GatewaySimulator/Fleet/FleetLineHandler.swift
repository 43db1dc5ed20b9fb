import NIOCore
import NIOHTTP1

/// Tells a line of the answers to its requests, and of its end.
final class FleetLineHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let line: FleetLine
    private var status = 0

    init(_ line: FleetLine) {
        self.line = line
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body: break
        case .end: line.answered(status)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        line.closed()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
