import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Keeps clients from holding a connection for nothing, and answers what is no HTTP.
///
/// It stands between the HTTP codec and Hummingbird's handlers, which have no deadlines of their own for heads and bodies.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionPhase.Limits
    private var phase: ConnectionPhase
    private var timer: Scheduled<Void>?
    private var timerDeadline: Int64 = .max
    /// The connection is being closed: what comes and goes now is dropped.
    private var isClosing = false
    /// The answer that is being written says that the connection ends with it.
    private var endsWithAnswer = false
    private var hasBegunAnswer = false
    /// What is wrong with the bytes behind requests that are not answered yet.
    private var heldError: (any Error)?

    /// How long a client may take to read the last answer before the connection is gone.
    private static let linger = TimeAmount.seconds(2)

    init(limits: ConnectionPhase.Limits) {
        self.limits = limits
        phase = ConnectionPhase(limits: limits, now: Self.now)
    }

    private static var now: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }

    func handlerAdded(context: ChannelHandlerContext) {
        arm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    /// Bytes of this connection came, whole parts or not.
    func received() {
        phase.received(now: Self.now)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head: phase.readHead(now: Self.now)
        case .body: break
        case .end: phase.readEnd(now: Self.now)
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        arm(context)
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.succeed()
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            hasBegunAnswer = true
            endsWithAnswer = head.headerFields[.connection] == "close"
            context.write(data, promise: promise)
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
                arm(context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
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

    private static func refusal(of error: any Error) -> WebAnswer {
        if let error = error as? HTTPParserError, error == .headerOverflow { return .headTooLarge }
        return .malformedRequest
    }

    /// Writes an answer of its own and ends the connection.
    private func refuse(_ context: ChannelHandlerContext, _ answer: WebAnswer) {
        var answer = answer
        answer.closes = true
        context.write(wrapOutboundOut(.head(answer.head(date: nil, requestID: nil))), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Ends the connection after what was written: at once would take the answer away from a client that still sends.
    private func end(_ context: ChannelHandlerContext) {
        isClosing = true
        context.flush()
        timer?.cancel()
        timer = nil
        context.close(mode: .output, promise: nil)
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
    }

    /// Sees to it that the deadline is noticed; a timer that is due earlier looks again then, so that most requests need none.
    private func arm(_ context: ChannelHandlerContext) {
        guard !isClosing, let deadline = phase.deadline else { return }
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
        guard !isClosing else { return }
        switch phase.lapse(now: Self.now) {
        case .wait: arm(context)
        case .close:
            isClosing = true
            context.close(promise: nil)
        case .timeout:
            if hasBegunAnswer || phase.owesAnswer {
                isClosing = true
                context.close(promise: nil)
            } else {
                refuse(context, .requestTimeout)
            }
        }
    }
}
