import NIOCore
import NIOHTTP1

/// Collects HTTP/1.1 requests and answers them with a function.
final class HTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// A list of 200,000 devices has about 14 MB.
    private static let largestBody = 32 << 20

    /// Without an answer the connection is closed.
    private let answer: @Sendable (HTTP1Request) -> HTTP1Answer?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ answer: @escaping @Sendable (HTTP1Request) -> HTTP1Answer?) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let part):
            guard body.count + part.readableBytes <= Self.largestBody else { return context.close(promise: nil) }
            body.append(contentsOf: part.readableBytesView)
        case .end:
            guard let head else { return }
            let request = HTTP1Request(method: head.method.rawValue, target: head.uri, body: body)
            guard let answer = answer(request) else { return context.close(promise: nil) }
            send(answer, keepAlive: head.isKeepAlive, context: context)
            self.head = nil
            body = []
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(_ answer: HTTP1Answer, keepAlive: Bool, context: ChannelHandlerContext) {
        let headers: HTTPHeaders = [
            "content-type": answer.contentType,
            "content-length": String(answer.body.count),
            "cache-control": "no-store",
        ]
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let promise = keepAlive ? nil : context.eventLoop.makePromise(of: Void.self)
        if let promise {
            let channel = context.channel
            promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    }
}
