import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// One connection to the binary gateway. It accepts notifications silently until one is invalid.
final class BinaryServerConnection: ChannelInboundHandler, SimulatedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a connection stays open after its error packet. A close that crosses the peer's writes causes a TCP
    /// reset, which would discard the packet before the peer has read it.
    private static let farewell = TimeAmount.seconds(1)

    let service: BinaryService
    /// The topics of the client's certificate.
    var topics: [String] = []
    private var context: ChannelHandlerContext?
    private var number: Int?
    private var parser = BinaryParser()
    /// The number of notifications received.
    var received = 0
    /// The identifier of the last accepted notification; 0 for none.
    var lastTaken: UInt32 = 0
    /// Whether the gateway has sent its last packet. Later notifications are discarded.
    var isEnding = false
    /// The number of further notifications that the error packet of a shutdown waits for.
    var shutdownAfter: Int?
    private(set) var isDropped = false
    private var isHeld = false
    private var pushes: [RecordedPush] = []
    private var thrownAway = 0
    var injected = 0

    init(service: BinaryService) {
        self.service = service
    }

    // MARK: Life of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event, number == nil {
            number = service.connections.opened(self, on: context.eventLoop)
            followConditions()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let number { service.connections.closed(number) }
        number = nil
        isEnding = true
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDropped else { return }
        parser.append(unwrapInboundIn(data).readableBytesView)
        let conditions = service.conditions.current
        readNotifications: while !isDropped {
            switch parser.next() {
            case .incomplete: break readNotifications
            case .unreadable(let identifier):
                if !isEnding { refuse(.protocolError, identifier ?? 0) }
                break readNotifications
            case .notification(let notification):
                if isEnding {
                    throwAway()
                } else {
                    serve(notification, conditions)
                }
            }
        }
        commit()
    }

    /// Counts a discarded notification. The packet of a shutdown may have waited for it.
    private func throwAway() {
        thrownAway += 1
        guard let missing = shutdownAfter else { return }
        shutdownAfter = missing - 1
        if missing <= 1 { sayShutdown() }
    }

    /// Notes a notification until the end of the read.
    func note(_ judgement: BinaryJudgement, answer: UInt8, isAccepted: Bool) {
        pushes.append(
            RecordedPush(
                key: judgement.key,
                tokenHash: judgement.tokenHash,
                answer: answer,
                isAccepted: isAccepted,
                // An accepted notification gets no answer.
                isAnswered: !isAccepted && answer != AnswerCatalog.unanswered
            )
        )
    }

    /// Records the judgements; call it before the sender can know of them.
    func commit() {
        guard !pushes.isEmpty || thrownAway > 0 else { return }
        service.recorder.record(pushes, refused: thrownAway, injected: injected, concurrentStreams: 0)
        pushes.removeAll(keepingCapacity: true)
        thrownAway = 0
        injected = 0
    }

    // MARK: Last packet

    /// Sends an error packet, and discards what arrives later.
    func refuse(_ status: BinaryStatus, _ identifier: UInt32) {
        isEnding = true
        let latency = service.conditions.current.plan.latency.map { latency in
            service.connections.roll { latency.sample(&$0) }
        }
        guard let context else { return }
        guard let latency, latency > 0 else { return say(status, identifier) }
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .nanoseconds(latency)) { connection.value.say(status, identifier) }
    }

    private func say(_ status: BinaryStatus, _ identifier: UInt32) {
        guard let context, !isDropped else { return }
        // Earlier judgements are recorded before the packet is sent.
        commit()
        var packet = context.channel.allocator.buffer(capacity: 6)
        packet.writeInteger(8 as UInt8)
        packet.writeInteger(status.code)
        packet.writeInteger(identifier)
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        guard !service.conditions.current.plan.closesAtOnce else {
            // It acts like a close with unread bytes: the packet, and right after it a reset.
            context.writeAndFlush(wrapOutboundOut(packet)).whenComplete { _ in connection.value.abort() }
            return
        }
        context.writeAndFlush(wrapOutboundOut(packet), promise: nil)
        context.eventLoop.scheduleTask(in: Self.farewell) { connection.value.end() }
    }

    /// Sends the packet of a shutdown, which has the identifier of the last accepted notification.
    func sayShutdown() {
        guard isEnding, shutdownAfter != nil else { return }
        shutdownAfter = nil
        service.recorder.goAwaySent()
        refuse(.shutdown, lastTaken)
    }

    // MARK: Conditions

    /// Stops or resumes reading, as the plan says.
    func followConditions() {
        guard let context, !isDropped else { return }
        let end = service.connections.stallEnds
        let shouldHold = end.map { $0 > .now() } ?? false
        if shouldHold, let end, end != .distantFuture {
            let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(deadline: end) { connection.value.followConditions() }
        }
        guard shouldHold != isHeld else { return }
        isHeld = shouldHold
        context.channel.setOption(.autoRead, value: !shouldHold).whenComplete { _ in }
    }

    /// Closes the connection in an orderly way.
    func end() {
        context?.close(promise: nil)
    }

    /// Drops the connection without any protocol message.
    func abort() {
        guard let context, !isDropped else { return }
        isDropped = true
        isEnding = true
        commit()
        service.recorder.connectionReset(cutOff: 0)
        TCPReset.send(context)
    }

    /// Runs a closure a moment later, unless the connection is gone by then.
    func later(_ delay: TimeAmount, _ body: @escaping @Sendable (BinaryServerConnection) -> Void) {
        guard let context else { return }
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: delay) { body(connection.value) }
    }
}

extension BinaryServerConnection {
    /// How long the packet of a shutdown waits for notifications to leave unprocessed. A sender that has nothing more
    /// to send must not wait forever.
    private static var timeout: TimeAmount { .milliseconds(200) }

    /// Judges a notification and applies the plan's faults to it.
    func serve(_ notification: BinaryNotification, _ conditions: GatewayConditions) {
        received += 1
        let plan = conditions.plan
        var judgement = BinaryJudgement(notification, topics: topics, conditions: conditions)
        if judgement.status == nil {
            judgement.status = service.injected(plan)
            if judgement.status != nil { injected += 1 }
        } else if conditions.isOutage {
            injected += 1
        }
        if let limit = plan.resetAfterStreams, received >= limit {
            let isTaken =
                judgement.status == nil && service.connections.roll { $0.happens(plan.unansweredAcceptedShare) }
            note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken)
            return abort()
        }
        switch judgement.status {
        case nil: take(notification, judgement)
        case .noErrors:
            take(notification, judgement)
            return refuse(.noErrors, notification.identifier ?? 0)
        case .shutdown:
            // This notification is no longer judged.
            return shutDown(waitingFor: 0)
        case .some(let status):
            note(
                judgement,
                answer: AnswerCatalog.of(.apnsBinary).code(ofReason: status.rawValue) ?? 0,
                isAccepted: false
            )
            // The oldest format has no identifier, so there is no error packet: the connection just ends.
            guard notification.command != 0 else {
                isEnding = true
                commit()
                return end()
            }
            return refuse(status, notification.identifier ?? 0)
        }
        if let goAway = plan.goAway, received >= goAway.afterStreams { shutDown(waitingFor: goAway.unprocessed) }
    }

    private func take(_ notification: BinaryNotification, _ judgement: BinaryJudgement) {
        note(judgement, answer: AnswerCatalog.accepted, isAccepted: true)
        lastTaken = notification.identifier ?? 0
        guard let since = judgement.goneSince, let token = notification.token, let topic = topics.first else { return }
        service.feedback.add(token, since: UInt32(clamping: since / 1_000), topic: topic)
    }

    /// Stops accepting, and sends the shutdown packet after `number` more notifications.
    private func shutDown(waitingFor number: Int) {
        guard !isEnding else { return }
        isEnding = true
        shutdownAfter = number
        guard number > 0 else { return sayShutdown() }
        later(Self.timeout) { $0.sayShutdown() }
    }
}
