import HTTP2
import NIOCore
import NIOHTTP1

/// One connection to FCM over HTTP/1.1, which Google's front end also speaks: firebase-admin sends single messages over
/// it.
///
/// Requests are judged and answered as over HTTP/2, one at a time. The faults of answers apply (errors, outages,
/// scripts, latency, stalls, silence); those of streams and GOAWAYs are only for HTTP/2.
final class FCMHTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// What to do with a request.
    private enum Act {
        case answer(FCMAnswers.Answer)
        /// The judgement's answer, when it is due.
        case judged
        case silence
        case drop
    }

    /// The maximum number of a body's bytes that are kept, as over HTTP/2. The rest is only counted.
    private static let maxBodySize = HTTP2ServerSettings().maxBodySize
    /// The interval between checks whether a stall is over.
    private static var stallInterval: TimeAmount { .milliseconds(10) }

    private let loop: GatewayLoop<FCMRules>
    private var state = FCMRules.newConnection()
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var bodyLength = 0

    init(loop: GatewayLoop<FCMRules>) {
        self.loop = loop
    }

    func handlerAdded(context: ChannelHandlerContext) {
        loop.recorder.connectionOpened()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        loop.recorder.connectionClosed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            bodyLength = 0
        case .body(let part):
            body.append(contentsOf: part.readableBytesView.prefix(Self.maxBodySize - body.count))
            bodyLength += part.readableBytes
        case .end:
            guard let head else { return }
            self.head = nil
            serve(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func serve(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        loop.begin()
        loop.noteStreams(1)
        // Connections that were open when an outage began are closed, as over HTTP/2.
        guard loop.plan.outage?.connections == nil else { return context.close(promise: nil) }
        if loop.isMetered { loop.recorder.countInOutage(1, \.requests) }
        let pseudo = [(":method", head.method.rawValue), (":path", head.uri)]
        let request = HTTP2ServerRequest(
            streamID: 1,
            headers: HTTP2HeaderBlock(pseudo + head.headers.map { ($0.name.lowercased(), $0.value) }),
            body: body,
            bodyLength: bodyLength
        )
        var judgement = loop.rules.judge(request, &state, now: loop.now)
        let act = act(&judgement)
        switch act {
        case .answer(let answer):
            loop.note(judgement, answer: AnswerCatalog.scripted, isAccepted: false, isAnswered: true)
            send(answer, head, context)
        case .silence, .drop:
            let isTaken = judgement.isAccepted && loop.dice.happens(loop.plan.unansweredAcceptedShare)
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken, isAnswered: false)
        case .judged:
            loop.deliver(judgement, body)
            let answer = judgement.code
            let isDelayed = loop.delaysAnswers
            loop.note(judgement, answer: answer, isAccepted: judgement.isAccepted, isAnswered: !isDelayed)
            let delay = loop.plan.latency.map { TimeAmount.nanoseconds($0.sample(&loop.dice)) } ?? .zero
            if isDelayed {
                sendLater(judgement, head, context, at: .now() + delay)
            } else {
                send(loop.rules.answer(judgement), head, context)
            }
        }
        loop.commit()
        if case .drop = act { context.close(promise: nil) }
    }

    /// Applies the plan and the device's state. If they reject the message, the judgement changes.
    private func act(_ judgement: inout Judgement) -> Act {
        if let outage = loop.plan.outage, let answer = outage.answer, loop.dice.happens(outage.share) {
            loop.noteInjected()
            return act(answer.act, retryAfter: answer.retryAfter, &judgement)
        }
        guard judgement.isAccepted else { return .judged }
        if let script = judgement.scripted, script.take() {
            return act(script.act, retryAfter: script.retryAfter, &judgement)
        }
        if let error = loop.drawError() {
            judgement.code = error.code
            judgement.retryAfter = error.retryAfter
            loop.noteInjected()
        } else if loop.dice.happens(loop.plan.neverAnsweredRate) {
            loop.noteInjected()
            return .silence
        }
        return .judged
    }

    private func act(_ act: ScriptedAnswer.Act, retryAfter: String?, _ judgement: inout Judgement) -> Act {
        switch act {
        case .reason(let reason):
            guard let code = AnswerCatalog.of(.fcm).code(ofReason: reason) else { return .judged }
            judgement.code = code
            judgement.detail = nil
            judgement.retryAfter = retryAfter
            return .judged
        case .response(let status, let fields, let body):
            let headers = ScriptedAnswer.headers(fields, retryAfter: retryAfter)
            return .answer(FCMAnswers.Answer(status: status, headers: headers, body: Array(body.utf8)))
        case .silence: return .silence
        case .reset, .drop: return .drop
        }
    }

    private func sendLater(
        _ judgement: Judgement,
        _ head: HTTPRequestHead,
        _ context: ChannelHandlerContext,
        at due: NIODeadline
    ) {
        let bound = NIOLoopBound((handler: self, context: context, judgement: judgement), eventLoop: loop.eventLoop)
        let isStalled = loop.stallEnds != nil
        loop.eventLoop.scheduleTask(deadline: isStalled ? max(due, .now() + Self.stallInterval) : due) {
            let (handler, context, judgement) = bound.value
            guard context.channel.isActive else { return }
            handler.loop.refresh()
            guard handler.loop.stallEnds == nil else { return handler.sendLater(judgement, head, context, at: due) }
            handler.loop.noteAnswered(judgement)
            handler.loop.commit()
            handler.send(handler.loop.rules.answer(judgement), head, context)
        }
    }

    private func send(_ answer: FCMAnswers.Answer, _ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders(answer.headers)
        headers.add(name: "content-length", value: String(answer.body.count))
        let status = HTTPResponseStatus(statusCode: answer.status)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if !request.isKeepAlive { context.close(promise: nil) }
    }
}
