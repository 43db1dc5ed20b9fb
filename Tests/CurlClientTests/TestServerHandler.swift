import NIOCore
import NIOHTTP1
import Synchronization

/// Collects a request and gives the answer that the test wants.
final class TestServerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: TestServer.Log
    private let answer: @Sendable (TestServer.Request) -> TestServer.Answer
    private var request: TestServer.Request?

    init(log: TestServer.Log, answer: @escaping @Sendable (TestServer.Request) -> TestServer.Answer) {
        self.log = log
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = TestServer.Request(head: head, body: [])
        case .body(let part): request?.body.append(contentsOf: part.readableBytesView)
        case .end:
            guard let request else { return }
            log.requests.withLock { $0.append(request) }
            perform(answer(request), request.head, context)
        }
    }

    private func perform(_ answer: TestServer.Answer, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch answer {
        case .silence: break
        case .raw(let text):
            // Past the HTTP encoder, straight to the socket.
            let bytes = context.channel.allocator.buffer(string: text)
            context.channel.pipeline.context(handlerType: HTTPResponseEncoder.self).assumeIsolated().whenSuccess {
                first in
                first.writeAndFlush(NIOAny(bytes), promise: nil)
                first.close(promise: nil)
            }
        case .response(let status, let headers, let body):
            var fields = HTTPHeaders(headers)
            fields.replaceOrAdd(name: "content-length", value: String(body.count))
            let response = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            if head.method != .HEAD, !body.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
