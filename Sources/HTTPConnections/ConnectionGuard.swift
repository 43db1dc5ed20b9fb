// HTTPConnections: HTTP/1 connections with deadlines, for processes that strangers reach.
//
// WHAT IT DOES
//   Sees to it that no client holds a connection for nothing: heads, bodies, idle connections and unread answers have
//   deadlines (ConnectionPhase); answers what is no HTTP; counts the connections of each client (ClientConnections), and knows whom
//   a request comes from where proxies stand in between (ProxyTrust). The web process and the console have the same, as what wears
//   one down wears the other down.
//
// HOW IT IS USED
//   A channel's pipeline has a ByteWatch, NIO's HTTP/1 codec, a ConnectionCodec and a ConnectionGuard, and behind them what answers;
//   configureHTTP(guardedBy:headerBytes:) puts them there. The guard asks a ConnectionPlace whether the connection may be used for
//   everything: the web process keeps some for its API, in the console a connection has no more to say than that it is open.
//
// THREADS AND TASKS
//   Everything runs on the connection's event loop; one timer a connection.
//
// FAILURES
//   A deadline that passes ends the connection, with 408 where a request was begun and nothing is owed. What is no HTTP is answered
//   with 400 or 431. Nothing here ends a process.
//
// SEE ALSO
//   ConnectionPhase.swift, ConnectionCodec.swift, ClientConnections.swift, AddressRange.swift

import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Keeps clients from holding a connection for nothing, ends connections when they should end, and answers what is no HTTP.
///
/// It stands between the HTTP codec and Hummingbird's handlers, which have no deadlines of their own for heads and bodies.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let mostBodyBytes: Int
    private let ticket: any ConnectionPlace
    /// Whether a request may have one of the connections that are kept for the API.
    private let isForAPI: @Sendable (HTTPRequest) -> Bool
    private var phase: ConnectionPhase
    private var timer: Scheduled<Void>?
    private var timerDeadline: Int64 = .max
    /// The connection is being closed: what comes and goes now is dropped.
    private var isClosing = false
    /// All that was to be written is, and the client has a moment to read it.
    private var isLingering = false
    /// What was said of the connection by the head that comes next, or came last.
    private var frame = RequestFrame()
    /// The head of the last request that is answered on this connection was read.
    private var hasLast = false
    /// That request was read, or one that is none: what comes behind it is dropped.
    private var isDeaf = false
    /// The client waits for a word before it sends the body of the request that was read last.
    private var owesContinue = false
    /// The answer that is being written says that the connection ends with it.
    private var endsWithAnswer = false
    private var hasBegunAnswer = false
    /// What is wrong with the bytes behind requests that are not answered yet.
    private var heldError: (any Error)?

    /// How long a client may take to read the last answer before the connection is gone.
    private static let linger = TimeAmount.seconds(2)
    /// Requests that may wait for their answers: clients that send several at once have a dozen under way, and one reading of the
    /// socket can bring thousands. The last of these ends the connection, so that the client sends what is behind it again.
    private static let mostUnanswered = 256

    /// How long a client may take for the first request on a connection that is kept for the API, TLS included.
    private static let probationNanoseconds: Int64 = 3_000_000_000

    /// Guards a connection that was accepted now.
    ///
    /// - Parameters:
    ///   - mostBodyBytes: no request has a longer body.
    ///   - ticket: what the connection may be used for.
    ///   - isForAPI: whether a request may have one of the connections that are kept.
    package init(
        limits: ConnectionPhase.Limits,
        mostBodyBytes: Int,
        ticket: any ConnectionPlace,
        isForAPI: @escaping @Sendable (HTTPRequest) -> Bool = { _ in false }
    ) {
        self.mostBodyBytes = mostBodyBytes
        self.ticket = ticket
        self.isForAPI = isForAPI
        var limits = limits
        if !ticket.isOrdinary() { limits.header = min(limits.header, Self.probationNanoseconds) }
        phase = ConnectionPhase(limits: limits, now: Self.now)
    }

    private static var now: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }

    package func handlerAdded(context: ChannelHandlerContext) {
        arm(context)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    /// Bytes of this connection came, whole parts or not.
    func received() {
        phase.received(now: Self.now)
    }

    /// Tells what the head that comes next says of the connection.
    func expect(_ frame: RequestFrame) {
        self.frame = frame
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing, !isDeaf else { return }
        switch unwrapInboundIn(data) {
        case .head(let request):
            guard frame.hasSoundHost else {
                isDeaf = true
                return errorCaught(context: context, error: RequestFrameError.host)
            }
            guard ticket.isOrdinary() || isForAPI(request) else {
                isDeaf = true
                return errorCaught(context: context, error: RequestFrameError.noRoom)
            }
            phase.readHead(now: Self.now)
            hasLast = frame.isLast || phase.unanswered >= Self.mostUnanswered
            if frame.expectsContinue {
                let length = request.headerFields[.contentLength].flatMap { Int($0) } ?? 0
                owesContinue = length <= mostBodyBytes
                // One that is too large is refused at once, and whether it comes all the same nobody knows.
                if !owesContinue { hasLast = true }
                sayContinue(context)
            }
        case .body: owesContinue = false
        case .end:
            owesContinue = false
            isDeaf = hasLast
            phase.readEnd(now: Self.now)
        }
        context.fireChannelRead(data)
    }

    /// Has the client send the body of the request that was read last, when all others are answered.
    private func sayContinue(_ context: ChannelHandlerContext) {
        guard owesContinue, phase.unanswered == 1, !hasBegunAnswer else { return }
        owesContinue = false
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is KeyAccepted { ticket.prove() } else { context.fireUserInboundEventTriggered(event) }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        arm(context)
        context.fireChannelReadComplete()
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.succeed()
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            hasBegunAnswer = true
            endsWithAnswer = head.headerFields[.connection] == "close"
            if !endsWithAnswer, !ticket.isProven, !ticket.isOrdinary() {
                head.headerFields[.connection] = "close"
                endsWithAnswer = true
                context.write(wrapOutboundOut(.head(head)), promise: promise)
                return
            }
            if !endsWithAnswer, let word = word(forAnswer: phase.unanswered) {
                head.headerFields[.connection] = word
                endsWithAnswer = word == "close"
                context.write(wrapOutboundOut(.head(head)), promise: promise)
            } else {
                context.write(data, promise: promise)
            }
        case .body:
            context.write(data, promise: promise)
        case .end:
            hasBegunAnswer = false
            context.write(data, promise: promise)
            phase.answered(now: Self.now)
            if endsWithAnswer {
                end(context)
            } else if let error = heldError, !phase.owesAnswer {
                heldError = nil
                fail(context, error)
            } else {
                sayContinue(context)
                arm(context)
            }
        }
    }

    /// What an answer says of the connection, by the number of requests that have none yet; nil for nothing.
    private func word(forAnswer unanswered: Int) -> String? {
        if hasLast, unanswered <= 1 { return "close" }
        return frame.asksToPersist ? "keep-alive" : nil
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isClosing {
            // The time for what is left runs already.
        } else if context.channel.isWritable {
            phase.flowed(now: Self.now)
        } else {
            phase.stalled(now: Self.now, pending: Self.pending(context))
        }
        arm(context)
        context.fireChannelWritabilityChanged()
    }

    /// The bytes that wait to be sent.
    private static func pending(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isClosing, phase.owesAnswer, context.channel.isActive {
            heldError = heldError ?? error
        } else {
            fail(context, error)
        }
    }

    private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
        if !isClosing, !hasBegunAnswer, context.channel.isActive { refuse(context, Self.refusal(of: error)) }
        // Whoever reads the body must hear that it is not whole.
        context.fireErrorCaught(error)
    }

    private static func refusal(of error: any Error) -> ConnectionRefusal {
        if let error = error as? HTTPParserError, error == .headerOverflow { return .headTooLarge }
        return switch error as? RequestFrameError {
        case .host: .unsoundHost
        case .noRoom: .noRoom
        case nil: .malformedRequest
        }
    }

    /// Writes an answer of its own and ends the connection.
    private func refuse(_ context: ChannelHandlerContext, _ refusal: ConnectionRefusal) {
        let body = ByteBuffer(string: refusal.text + "\n")
        context.write(wrapOutboundOut(.head(refusal.head(length: body.readableBytes))), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Ends the connection after what was written: at once would take the answer away from a client that still sends.
    private func end(_ context: ChannelHandlerContext) {
        isClosing = true
        context.flush()
        // The client has the time for the last answer that it has for every other one.
        phase.stalled(now: Self.now, pending: Self.pending(context))
        arm(context)
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            let (guardian, context) = bound.value
            guardian.linger(context)
        }
        context.close(mode: .output, promise: written)
    }

    private func linger(_ context: ChannelHandlerContext) {
        isLingering = true
        timer?.cancel()
        timer = nil
        let channel = context.channel
        guard channel.isActive else { return }
        timer = context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
    }

    /// Sees to it that the deadline is noticed; a timer that is due earlier looks again then, so that most requests need none.
    private func arm(_ context: ChannelHandlerContext) {
        guard !isLingering, let deadline = phase.deadline else { return }
        if timer != nil, timerDeadline <= deadline { return }
        timer?.cancel()
        timerDeadline = deadline
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(clamping: deadline))) {
            let (guardian, context) = bound.value
            guardian.timerFired(context)
        }
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        timer = nil
        timerDeadline = .max
        phase.looked(now: Self.now, pending: Self.pending(context))
        switch phase.lapse(now: Self.now) {
        case .wait: arm(context)
        case .close:
            isClosing = true
            context.close(promise: nil)
        case .timeout:
            if isClosing || hasBegunAnswer || phase.owesAnswer {
                isClosing = true
                context.close(promise: nil)
            } else {
                refuse(context, .requestTimeout)
            }
        }
    }
}

/// What an accepted connection may be used for; asked on its event loop.
package protocol ConnectionPlace: Sendable {
    /// Whether it may be used for everything, now.
    func isOrdinary() -> Bool
    /// Whether the client has shown that it still uses it.
    var isProven: Bool { get }
    /// Notes that the client has shown it.
    func prove()
}

/// Told to a connection when a key of the API that came over it was accepted.
package struct KeyAccepted: Sendable {
    package init() {}
}

/// What a connection says before it ends, where it has read no request that could be answered.
private enum ConnectionRefusal {
    case headTooLarge, unsoundHost, noRoom, malformedRequest, requestTimeout

    /// Seconds after which a refused client may be taken: a fail-over, or a burst, is over then.
    private static let pause = 5

    var text: String {
        switch self {
        case .headTooLarge: "The request's head is too large."
        case .unsoundHost: "The request names no host, or several."
        case .noRoom: "The server has too many connections; try again later."
        case .malformedRequest: "The request is not HTTP/1.1."
        case .requestTimeout: "The request took too long to arrive."
        }
    }

    private var status: HTTPResponse.Status {
        switch self {
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .unsoundHost, .malformedRequest: .badRequest
        case .noRoom: .serviceUnavailable
        case .requestTimeout: .requestTimeout
        }
    }

    func head(length: Int) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentLength, value: String(length)))
        fields.append(HTTPField(name: .contentType, value: "text/plain; charset=utf-8"))
        if self == .noRoom { fields.append(HTTPField(name: .retryAfter, value: String(Self.pause))) }
        fields.append(HTTPField(name: .connection, value: "close"))
        return HTTPResponse(status: status, headerFields: fields)
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Puts HTTP/1, with a guard that has deadlines, into a connection's pipeline; what answers comes behind it.
    ///
    /// - Parameter headerBytes: no head is longer.
    package func configureHTTP(guardedBy connection: ConnectionGuard, headerBytes: Int) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = headerBytes
        decoding.maxHeaderListSize = headerBytes
        // A head of the largest size with the shortest fields would have thousands.
        decoding.maxHeaderFieldCount = 100
        try addHandler(ByteWatch(connection))
        try configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false,
            // The fields' types see to that.
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding
        )
        try addHandler(ConnectionCodec(connection))
        try addHandler(connection)
    }
}

/// Closes a connection before its first byte: its client has too many, or there is no place left.
package final class RefusedConnection: ChannelInboundHandler, Sendable {
    package typealias InboundIn = ByteBuffer

    package init() {}

    package func channelActive(context: ChannelHandlerContext) {
        context.close(promise: nil)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

/// Tells the guard of a connection that bytes came, before it is known what they are.
package final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let connection: ConnectionGuard

    /// Tells the guard of the connection.
    package init(_ connection: ConnectionGuard) {
        self.connection = connection
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.received()
        context.fireChannelRead(data)
    }
}
