import NIOCore
import NIOHTTP1
import Synchronization

/// Collects a request and gives the answer that the test wants.
final class SmallServerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: SmallServer.Log
    private let answer: SmallServer.Answer
    private var request: SmallServer.Request?

    init(log: SmallServer.Log, answer: @escaping SmallServer.Answer) {
        self.log = log
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let headers = head.headers.map { ($0.name.lowercased(), $0.value) }
            request = SmallServer.Request(
                method: head.method.rawValue,
                uri: head.uri,
                headers: Dictionary(headers) { "\($0), \($1)" },
                body: ""
            )
        case .body(let part): request?.body += String(buffer: part)
        case .end:
            guard let request else { return }
            log.requests.withLock { $0.append(request) }
            guard let answer = answer(request) else { return context.close(promise: nil) }
            var fields = HTTPHeaders(answer.headers.map { ($0, $1) })
            fields.replaceOrAdd(name: "content-length", value: String(answer.body.utf8.count))
            let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
