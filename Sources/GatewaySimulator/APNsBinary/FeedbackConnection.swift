import NIOCore
import NIOTLS

/// One connection to the feedback service. It sends the entries, removes them, and closes.
final class FeedbackConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let service: BinaryService
    /// The topics of the client's certificate.
    var topics: [String] = []

    init(service: BinaryService) {
        self.service = service
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { tell(context) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func tell(_ context: ChannelHandlerContext) {
        let entries = service.feedback.entries(topics)
        var buffer = context.channel.allocator.buffer(capacity: entries.count * 38)
        for entry in entries {
            buffer.writeInteger(entry.since)
            buffer.writeInteger(UInt16(clamping: entry.token.count))
            buffer.writeBytes(entry.token)
        }
        let (service, topics) = (service, topics)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(buffer))
            .whenComplete { result in
                // Entries that were not sent stay.
                if case .success = result { service.feedback.forget(entries, topics) }
                channel.close(promise: nil)
            }
    }
}
