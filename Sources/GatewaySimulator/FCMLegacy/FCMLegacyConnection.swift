import HTTP2
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One HTTP/1.1 connection to the legacy gateway. It collects a request, has it judged, answers it, and continues with
/// the next.
final class FCMLegacyConnection: ChannelInboundHandler, SimulatedConnection {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The maximum size of a body, in bytes. A thousand tokens and the largest payload take less than a tenth of it.
    private static let maxBodySize = 4 << 20

    let service: FCMLegacyService
    private var context: ChannelHandlerContext?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    /// The connection's number; nil before its first request.
    private var number: Int?
    /// The number of requests received.
    var requests = 0
    /// Whether a request waits for its answer.
    private(set) var isWaiting = false
    private(set) var isDropped = false
    private var isFrozen = false
    /// The delayed answer.
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
            if number == nil { number = service.connections.opened(self, on: context.eventLoop) }
            followConditions()
            self.head = head
            body = []
        case .body(let part):
            guard body.count + part.readableBytes <= Self.maxBodySize else { return context.close(promise: nil) }
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
        if let number { service.connections.closed(number) }
        number = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: Actions

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

    /// Stops or resumes reading, and sends an answer that no longer has to wait.
    func followConditions() {
        guard let context else { return }
        let freezes = service.conditions.current.plan.freezes
        if freezes != isFrozen {
            isFrozen = freezes
            context.channel.setOption(.autoRead, value: !freezes).whenComplete { _ in }
        }
        scheduleDelayed()
    }

    /// Drops the connection with a TCP reset.
    func abort() {
        guard let context, !isDropped else { return }
        isDropped = true
        service.recorder.connectionReset(cutOff: isWaiting ? 1 : 0)
        setWaiting(false)
        TCPReset.send(context)
    }

    /// Closes the connection in an orderly way.
    func end() {
        context?.close(promise: nil)
    }

    private func setWaiting(_ waits: Bool) {
        guard waits != isWaiting else { return }
        isWaiting = waits
        service.recorder.waitingChanged(by: waits ? 1 : -1)
    }
}

extension FCMLegacyConnection {
    /// Judges a request and applies the plan's faults to it.
    ///
    /// The plan's HTTP/2 faults (GOAWAY, refused streams, stream limits) have no effect here.
    func serve(_ request: FCMLegacyRequest) {
        requests += 1
        service.recorder.requestCame()
        let conditions = service.conditions.current
        let plan = conditions.plan
        var judgement = service.rules.judge(request, conditions)
        var injected = judgement.isRejected && conditions.isOutage ? max(1, judgement.results.count) : 0
        let isReset = plan.resetAfterStreams.map { requests >= $0 } ?? false
        let (isUnanswered, isTaken) = service.connections.roll { dice in
            if !judgement.isRejected { injected += Self.injectErrors(plan, &judgement, &dice) }
            let isUnanswered = !judgement.isRejected && !isReset && dice.happens(plan.neverAnsweredRate)
            let isTaken = !dice.happens(1 - plan.unansweredAcceptedShare)
            return (isUnanswered, isTaken)
        }
        if isReset || isUnanswered {
            if isUnanswered { injected += judgement.results.count }
            let pushes = judgement.pushes(
                AnswerCatalog.unanswered,
                isTaken: isTaken,
                isAnswered: false
            )
            record(pushes, injected: injected)
            if isReset { abort() }
            return
        }
        guard plan.latency != nil || service.connections.stallEnds != nil else {
            record(judgement.pushes(isTaken: true, isAnswered: true), injected: injected)
            return write(service.answers.answer(judgement))
        }
        if isTaken { record(judgement.pushes(isTaken: true, isAnswered: false), injected: injected) }
        let latency = plan.latency.map { latency in service.connections.roll { dice in latency.sample(&dice) } } ?? 0
        delayed = FCMLegacyDelayedAnswer(
            judgement: judgement,
            due: .now() + .nanoseconds(latency),
            isTaken: isTaken
        )
        scheduleDelayed()
    }

    /// Randomly rejects the whole request or some of its messages, and returns the number of these messages.
    private static func injectErrors(
        _ plan: FaultPlan,
        _ judgement: inout FCMLegacyJudgement,
        _ dice: inout FaultDice
    ) -> Int {
        let errors = plan.errors.compactMap { error in FCMLegacyReason(rawValue: error.reason).map { ($0, error) } }
        guard !errors.isEmpty else { return 0 }
        if let (reason, error) = draw(errors.filter { !$0.0.isResult }, &dice) {
            judgement.reason = reason
            judgement.retryAfter = error.retryAfter
            return judgement.results.count
        }
        let perMessage = errors.filter { $0.0.isResult }
        var injected = 0
        for index in judgement.results.indices where judgement.results[index].reason == nil {
            guard let (reason, error) = draw(perMessage, &dice) else { continue }
            judgement.results[index].reason = reason
            judgement.retryAfter = error.retryAfter ?? judgement.retryAfter
            injected += 1
        }
        return injected
    }

    private static func draw(
        _ errors: [(FCMLegacyReason, ErrorRate)],
        _ dice: inout FaultDice
    ) -> (FCMLegacyReason, ErrorRate)? {
        guard !errors.isEmpty else { return nil }
        var draw = dice.unit()
        for error in errors {
            draw -= error.1.rate
            if draw < 0 { return error }
        }
        return nil
    }

    private func record(_ pushes: [RecordedPush], injected: Int) {
        guard !pushes.isEmpty else { return }
        service.recorder.record(pushes, refused: 0, injected: injected, concurrentStreams: 1)
    }

    // MARK: Delays

    /// Sends the delayed answer when its latency and any stall are over.
    func scheduleDelayed() {
        guard let answer = delayed, let eventLoop else { return }
        answer.wakeUp?.cancel()
        let due = max(answer.due, service.connections.stallEnds ?? answer.due)
        guard due > .now() else { return sendDelayed() }
        // Only new conditions end a stall without an end.
        guard due < .distantFuture else { return }
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        delayed?.wakeUp = eventLoop.scheduleTask(deadline: due) { connection.value.scheduleDelayed() }
    }

    private func sendDelayed() {
        guard let answer = delayed else { return }
        delayed = nil
        if answer.isTaken {
            let keys = answer.judgement.pushes(isTaken: true, isAnswered: true).filter(\.isAccepted).map(\.key)
            if !keys.isEmpty { service.recorder.answered(keys) }
        } else {
            record(answer.judgement.pushes(isTaken: true, isAnswered: true), injected: 0)
        }
        write(service.answers.answer(answer.judgement))
    }

    /// Discards the delayed answer, because its connection is gone.
    func cutOff() {
        guard let answer = delayed else { return }
        delayed = nil
        answer.wakeUp?.cancel()
        guard !answer.isTaken else { return }
        record(answer.judgement.pushes(AnswerCatalog.unanswered, isTaken: false, isAnswered: false), injected: 0)
    }
}

/// A delayed answer.
struct FCMLegacyDelayedAnswer {
    var judgement: FCMLegacyJudgement
    /// When the latency is over.
    var due: NIODeadline
    /// Whether the messages were recorded when they arrived. Otherwise they are recorded with the answer, if the
    /// connection is still open.
    var isTaken: Bool
    var wakeUp: Scheduled<Void>?
}
