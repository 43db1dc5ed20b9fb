import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One HTTP/1.1 connection to the legacy gateway: collects a request, has it judged, answers it, and goes on with the next.
final class FCMLegacyConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// A thousand tokens and the largest payload take less than a tenth of it.
    private static let largestBody = 4 << 20

    let service: FCMLegacyService
    private var context: ChannelHandlerContext?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    /// The connection's number; nil before its first request.
    private var number: Int?
    /// Requests that have come.
    var requests = 0
    /// Whether a request waits for its answer.
    private(set) var isWaiting = false
    private(set) var isDropped = false
    private var isFrozen = false
    /// The answer that waits for its time.
    var delayed: FCMLegacyDelayedAnswer?

    init(service: FCMLegacyService) {
        self.service = service
    }

    var eventLoop: (any EventLoop)? { context?.eventLoop }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDropped else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if number == nil { number = service.opened(self, on: context.eventLoop) }
            followConditions()
            self.head = head
            body = []
        case .body(let part):
            guard body.count + part.readableBytes <= Self.largestBody else { return context.close(promise: nil) }
            body.append(contentsOf: part.readableBytesView)
        case .end:
            guard let head else { return }
            self.head = nil
            setWaiting(true)
            let target = HTTP1Request(method: head.method.rawValue, target: head.uri, body: [])
            serve(
                FCMLegacyRequest(
                    method: target.method,
                    path: target.path,
                    authorization: head.headers.first(name: "authorization") ?? "",
                    contentType: head.headers.first(name: "content-type")?.lowercased() ?? "",
                    body: body
                )
            )
            body = []
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        if isWaiting, !isDropped { service.recorder.connectionBroken() }
        cutOff()
        setWaiting(false)
        if let number { service.closed(number) }
        number = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: What the gateway does

    /// Writes the answer.
    func write(_ answer: FCMLegacyAnswers.Answer) {
        guard let context, !isDropped else { return }
        setWaiting(false)
        var headers = HTTPHeaders(answer.headers)
        headers.add(name: "content-length", value: String(answer.body.count))
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// Stops reading or goes on, and lets an answer go that need not wait any more.
    func followConditions() {
        guard let context else { return }
        let freezes = service.conditions.current.plan.freezes
        if freezes != isFrozen {
            isFrozen = freezes
            context.channel.setOption(.autoRead, value: !freezes).whenComplete { _ in }
        }
        scheduleDelayed()
    }

    /// Drops the connection without a word, with a TCP reset.
    func abort() {
        guard let context, !isDropped else { return }
        isDropped = true
        service.recorder.connectionReset(cutOff: isWaiting ? 1 : 0)
        setWaiting(false)
        guard let socket = context.channel as? any SocketOptionProvider else { return Self.closeBelowTLS(context) }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            .whenComplete { [context = NIOLoopBound(context, eventLoop: context.eventLoop)] _ in
                Self.closeBelowTLS(context.value)
            }
    }

    private static func closeBelowTLS(_ context: ChannelHandlerContext) {
        // A close that starts at the TLS handler's own context passes it by, so that it says no goodbye.
        let operations = context.pipeline.syncOperations
        if let tls = try? operations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            context.close(promise: nil)
        }
    }

    /// Ends the connection in order.
    func end() {
        context?.close(promise: nil)
    }

    private func setWaiting(_ waits: Bool) {
        guard waits != isWaiting else { return }
        isWaiting = waits
        service.recorder.waitingChanged(by: waits ? 1 : -1)
    }
}
