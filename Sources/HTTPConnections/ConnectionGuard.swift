// HTTPConnections: HTTP/1 connections with deadlines, for processes that untrusted clients can reach.
//
// WHAT IT DOES
//   Keeps clients from holding connections without using them: heads, bodies, idle connections and unread responses
//   have deadlines (ConnectionPhase). Answers what is not HTTP with an error. Counts the connections of each client
//   (ClientConnections) and finds the client of a request that came through proxies (ProxyTrust). The web process and
//   the console share it, because the same attacks exhaust both.
//
// HOW IT IS USED
//   A channel's pipeline has a ByteWatch, NIO's HTTP/1 codec, a ConnectionCodec and a ConnectionGuard, followed by the
//   handlers that answer requests. configureHTTP(guardedBy:headerBytes:) adds them. The guard asks a ConnectionPlace
//   whether the connection may be used for everything: the web process reserves some connections for its API; in the
//   console every connection may be.
//
// THREADS AND TASKS
//   Everything runs on the connection's event loop. Each connection has one timer.
//
// FAILURES
//   A missed deadline ends the connection. If a request had begun and no response is pending, the client gets 408. What
//   is not HTTP is answered with 400 or 431. No failure here ends the process.
//
// SEE ALSO
//   ConnectionPhase.swift, ConnectionCodec.swift, ConnectionPlace.swift, ClientConnections.swift, ProxyTrust.swift

import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Enforces a connection's deadlines, ends connections when they should end, and answers what is not HTTP.
///
/// It sits between the HTTP codec and Hummingbird's handlers, which have no deadlines for heads and bodies.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let maxBodyBytes: Int
    private let ticket: any ConnectionPlace
    /// Whether a request may use a connection reserved for the API.
    private let isForAPI: @Sendable (HTTPRequest) -> Bool
    private var phase: ConnectionPhase
    private var timer: Scheduled<Void>?
    private var timerDeadline: Int64 = .max
    /// The connection is being closed: everything read or written now is dropped.
    private var isClosing = false
    /// Everything is written, and the client has a moment to read it.
    private var isLingering = false
    /// The frame of the head that comes next, or came last.
    private var frame = RequestFrame()
    /// Whether the head of the last request that this connection answers was read.
    private var hasLast = false
    /// Whether that request was read whole, or an invalid one was read: everything after it is dropped.
    private var isDeaf = false
    /// Whether the client waits for 100 Continue before it sends the body of the last request.
    private var owesContinue = false
    /// Whether the response being written announces the end of the connection.
    private var endsWithAnswer = false
    private var hasBegunAnswer = false
    /// An error in the bytes after requests that have no response yet; handled once they have.
    private var heldError: (any Error)?

    /// How long a client has to read the last response before the connection closes.
    private static let linger = TimeAmount.seconds(2)
    /// The maximum number of requests that wait for their responses. A pipelining client has about a dozen, but one
    /// read of the socket can bring thousands. The last permitted one ends the connection, so that the client sends the
    /// following ones again.
    private static let maxUnanswered = 256

    /// How long a client may take for the first request on a connection reserved for the API, TLS included.
    private static let probationNanoseconds: Int64 = 3_000_000_000

    /// Guards a connection that was just accepted.
    ///
    /// - Parameters:
    ///   - maxBodyBytes: the maximum size of a request's body.
    ///   - ticket: what the connection may be used for.
    ///   - isForAPI: whether a request may use a reserved connection.
    package init(
        limits: ConnectionPhase.Limits,
        maxBodyBytes: Int,
        ticket: any ConnectionPlace,
        isForAPI: @escaping @Sendable (HTTPRequest) -> Bool = { _ in false }
    ) {
        self.maxBodyBytes = maxBodyBytes
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

    /// Bytes arrived, which may be less than a whole part.
    func received() {
        phase.received(now: Self.now)
    }

    /// Sets the frame of the head that comes next.
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
            hasLast = frame.isLast || phase.unanswered >= Self.maxUnanswered
            if frame.expectsContinue {
                let length = request.headerFields[.contentLength].flatMap { Int($0) } ?? 0
                owesContinue = length <= maxBodyBytes
                // A body that is too large is refused at once. The client may or may not send it, so the connection
                // ends.
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

    /// Lets the client send the body of the last request, once all earlier ones have their responses.
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

    /// The `Connection` field of a response, given the number of requests that wait for theirs; nil for none.
    private func word(forAnswer unanswered: Int) -> String? {
        if hasLast, unanswered <= 1 { return "close" }
        return frame.asksToPersist ? "keep-alive" : nil
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isClosing {
            // The deadline for the rest is already running.
        } else if context.channel.isWritable {
            phase.flowed(now: Self.now)
        } else {
            phase.stalled(now: Self.now, pending: Self.pending(context))
        }
        arm(context)
        context.fireChannelWritabilityChanged()
    }

    /// The number of bytes that wait to be sent.
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
        // The reader of the body must learn that it is incomplete.
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

    /// Writes an error response and ends the connection.
    private func refuse(_ context: ChannelHandlerContext, _ refusal: ConnectionRefusal) {
        let body = ByteBuffer(string: refusal.text + "\n")
        context.write(wrapOutboundOut(.head(refusal.head(length: body.readableBytes))), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Ends the connection after everything was written. Closing at once would discard the response of a client that
    /// still sends.
    private func end(_ context: ChannelHandlerContext) {
        isClosing = true
        context.flush()
        // The last response has the same write deadline as every other.
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

    /// Schedules a timer for the deadline. An earlier timer stays and checks the deadline when it fires, so most
    /// requests need no timer of their own.
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

/// The event that a connection gets when an API key that came over it was accepted.
package struct KeyAccepted: Sendable {
    package init() {}
}

/// The response to what is not an acceptable request; the connection ends with it.
private enum ConnectionRefusal {
    case headTooLarge, unsoundHost, noRoom, malformedRequest, requestTimeout

    /// Seconds after which a refused client should try again: a failover or a burst is over by then.
    private static let pause = 5

    var text: String {
        switch self {
        case .headTooLarge: "The request's head is too large."
        case .unsoundHost: "The request must name exactly one host."
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
    /// Adds HTTP/1 and a guard to a connection's pipeline. Add the handlers that answer requests after it.
    ///
    /// - Parameter headerBytes: the maximum size of a request's head.
    package func configureHTTP(guardedBy connection: ConnectionGuard, headerBytes: Int) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = headerBytes
        decoding.maxHeaderListSize = headerBytes
        // A head of the maximum size could hold thousands of short fields.
        decoding.maxHeaderFieldCount = 100
        try addHandler(ByteWatch(connection))
        try configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false,
            // The types of the fields guarantee valid ones.
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding
        )
        try addHandler(ConnectionCodec(connection))
        try addHandler(connection)
    }
}

/// Tells the guard of a connection that bytes arrived, before they are parsed.
package final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let connection: ConnectionGuard

    /// Makes a handler that reports to this guard.
    package init(_ connection: ConnectionGuard) {
        self.connection = connection
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.received()
        context.fireChannelRead(data)
    }
}
