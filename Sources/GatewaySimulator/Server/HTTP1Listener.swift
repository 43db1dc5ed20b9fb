import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A small HTTP/1.1 server, used for the token endpoint with TLS and for the control port without.
struct HTTP1Listener: Sendable {
    let socket: ListeningPort

    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext?,
        answer: @escaping @Sendable (HTTP1Request) -> HTTP1Answer?
    ) async throws -> HTTP1Listener {
        HTTP1Listener(
            socket: try await ListeningPort.open(port) {
                bootstrap(group, tls, answer).bind(host: host, port: $0)
            }
        )
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup,
        _ tls: NIOSSLContext?,
        _ answer: @escaping @Sendable (HTTP1Request) -> HTTP1Answer?
    ) -> ServerBootstrap {
        ListeningPort.bootstrap(group) { channel in
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(HTTP1Handler(answer))
        }
    }

    var port: Int { socket.number }

    /// Stops listening. Open connections end with the event loops.
    func stop() async {
        await socket.stop()
    }
}

/// Collects HTTP/1.1 requests and answers them with a function.
final class HTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The maximum size of a body, in bytes. A list of 200,000 devices has about 14 MB.
    private static let maxBodySize = 32 << 20

    /// Answers a request; nil closes the connection.
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
            guard body.count + part.readableBytes <= Self.maxBodySize else { return context.close(promise: nil) }
            body.append(contentsOf: part.readableBytesView)
        case .end:
            guard let head else { return }
            let request = HTTP1Request(method: head.method.rawValue, target: head.uri, body: body)
            guard let answer = answer(request) else { return context.close(promise: nil) }
            let keepAlive = head.isKeepAlive
            if answer.delayMilliseconds > 0 {
                context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(answer.delayMilliseconds))) {
                    guard context.channel.isActive else { return }
                    self.send(answer, keepAlive: keepAlive, context: context)
                }
            } else {
                send(answer, keepAlive: keepAlive, context: context)
            }
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
