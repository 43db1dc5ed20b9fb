import NIOCore
import NIOTLS

/// One connection of a client: moves bytes between the channel and its session, and supervises the session.
///
/// Confined to the event loop. The pool that owns the connection decides which requests it gets.
final class HTTP2ClientConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// Waits for TLS and the server's first SETTINGS frame.
        case opening
        /// Takes requests.
        case ready
        /// Takes no more requests; closes when the last outstanding one is resolved.
        case draining
        /// The channel is closing, which with TLS may take seconds; nothing more is sent or read.
        case closing
        case closed
    }

    /// The size of the pieces in which output is flushed, in bytes. For the life of a connection NIOSSL keeps a buffer
    /// as large as its largest flush: with pieces of 64 KiB, 400 connections to FCM kept 22 MiB. A block of requests
    /// with short payloads has 17 KiB, which is one piece.
    private static let outputPiece = 20 * 1_024
    /// The part of a piece reserved for the last request, which is written whole.
    private static let lastRequest = 1_024

    let configuration: HTTP2ClientConfiguration
    private let pool: HTTP2ClientPool
    let session: ClientSession
    var state = State.opening
    private(set) var limit: Int
    private var context: ChannelHandlerContext?
    /// Since when the server has been silent while requests were outstanding: the time of the last read, or of the
    /// first request after idleness.
    var quietSince = NIODeadline.now()
    var pingSent: NIODeadline?
    /// Called once when the next bytes are received, to complete a `ping`.
    var whenHeard: (() -> Void)?
    var timeoutsInARow = 0
    private(set) var closeReason: String?
    /// When the connection became ready, if it has.
    private(set) var opened: NIODeadline?
    /// Whether it has brought a response.
    var isProved = false
    /// Whether the pool has counted it as broken.
    var isCounted = false
    /// Whether it has read in the event loop's current round.
    var isInRound = false
    /// Whether it takes requests only once the server has answered a PING. It applies after failures, so that a
    /// connection that breaks at once gets no requests.
    private(set) var awaitsPing = false
    /// The remote address, for logs and status.
    private(set) var address = ""
    /// Whether TLS has failed and is delivering the complete records that it had received before.
    private var isTakingRest = false

    init(configuration: HTTP2ClientConfiguration, pool: HTTP2ClientPool) throws {
        self.configuration = configuration
        self.pool = pool
        session = try ClientSession(lastStreamID: configuration.lastStreamID)
        limit = min(configuration.initialMaxConcurrentStreams, configuration.maxConcurrentStreams)
    }

    var streamsInFlight: Int { session.streams.count }

    /// The number of streams that may be opened now; 0 until the owner has recorded the results of the last read, whose
    /// slots would be reused.
    var room: Int {
        guard state == .ready, session.completions.isEmpty, session.ownGoAway == nil, !isTakingRest,
            context?.channel.isWritable == true
        else { return 0 }
        return max(0, limit - session.streams.count)
    }

    /// The number of streams reserved for urgent requests, which at a slow gateway would otherwise wait for other
    /// requests' responses.
    ///
    /// A sixteenth is 62 of APNs' 1,000 and 6 of FCM's 100. If the others are too few, the set of connections grows.
    var kept: Int { limit / 16 }

    /// The number of requests that leave together if as many wait. Written one by one, each request costs both ends a
    /// system call and a TLS record. The responses then also arrive together, as long as latencies are similar.
    ///
    /// At 50 ms, FCM reached 147,000 messages a second with blocks of 6, 158,000 with 16, 183,000 with 31 and 203,000
    /// with 47. But the more of its 100 streams a block needs, the fewer missing responses hold up all others. APNs
    /// reached 212,000, 225,000 and 229,000 with 16, 64 and 128 (700,000 messages each, November 2026).
    var block: Int { min(Self.maxInBlock, limit / 3) }

    /// This many requests of 340 bytes, with a short payload, fill a TLS record.
    static let maxInBlock = 48

    /// Whether nothing has been received for so long that free streams no longer wait to form a block.
    var isQuiet = false

    /// Free streams that are withheld now, until enough are free for a block or until the channel is writable.
    var gathering: Int {
        let free = max(0, limit - kept - session.streams.count)
        return room == 0 || free < block && !isQuiet ? free : 0
    }

    // MARK: Life of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if configuration.tls == nil, context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if configuration.tls == nil { begin(context) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event {
            if negotiated == "h2" {
                begin(context)
            } else {
                close("the server does not speak HTTP/2: TLS agreed on \(negotiated ?? "no protocol") instead of h2")
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ context: ChannelHandlerContext) {
        address = context.channel.remoteAddress.map(String.init(describing:)) ?? ""
        quietSince = .now()
        send()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // TLS may report the error again while it delivers the rest; reacting to it would recurse endlessly.
        guard !isTakingRest else { return }
        // Responses of the same read that precede a broken record stay in TLS until the read completes, which will not
        // happen. So complete it here.
        if state == .ready || state == .draining {
            isTakingRest = true
            context.pipeline.fireChannelReadComplete()
            isTakingRest = false
        }
        close(String(describing: error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard state != .closed else { return }
        // A GOAWAY may have come with the end.
        handleNotices()
        let wasOrderly = state == .closing || (state == .draining && session.streams.count == 0)
        state = .closed
        session.now = NIODeadline.now().uptimeNanoseconds
        session.connectionLost()
        pool.deliver(self)
        let reason = closeReason ?? (wasOrderly ? nil : ending)
        pool.connectionClosed(self, reason: reason)
    }

    /// The reason to report if the server ended the connection, by how far it had come.
    private var ending: String {
        if opened == nil { return "the server ended the connection before it sent SETTINGS" }
        return session.hasAnswered
            ? "the server ended the connection" : "the server ended the connection before it answered anything"
    }

    /// Closes the connection; outstanding requests are resolved when the channel has become inactive.
    /// - Parameter reason: nil for an orderly end.
    func close(_ reason: String?) {
        guard state != .closing, state != .closed else { return }
        closeReason = reason
        state = .closing
        if let reason { pool.broke(self, reason: reason) }
        context?.close(promise: nil)
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closing, state != .closed else { return }
        let buffer = unwrapInboundIn(data)
        quietSince = .now()
        isQuiet = false
        pingSent = nil
        if let told = whenHeard {
            whenHeard = nil
            told()
        }
        session.now = quietSince.uptimeNanoseconds
        do {
            try buffer.withUnsafeReadableBytes { try session.receive($0) }
        } catch {
            close("the server broke the HTTP/2 protocol: \(error)")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        handleNotices()
        pool.hasRead(self)
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { pool.hasRead(self) }
        context.fireChannelWritabilityChanged()
    }

    private func handleNotices() {
        guard !session.notices.isEmpty else { return }
        let notices = session.notices
        session.notices.removeAll(keepingCapacity: true)
        for notice in notices {
            switch notice {
            case .settings(let announced): settingsReceived(announced)
            case .goAway(let code, let lastStreamID, let debugData):
                let event = HTTP2ConnectionEvent.goAway(
                    code: HTTP2ErrorCode(rawValue: code),
                    lastStreamID: lastStreamID,
                    debugData: debugData,
                    wasInUse: state == .ready || state == .opening
                )
                drain()
                pool.goAway(self, event)
            case .pingAnswered:
                pingSent = nil
                if awaitsPing, state == .opening { becomeReady() }
            }
        }
    }

    private func settingsReceived(_ announced: UInt32?) {
        let isFirst = state == .opening
        let old = limit
        if let announced {
            limit = min(Int(announced), configuration.maxConcurrentStreams)
        } else if isFirst {
            // Without a limit any number is allowed; RFC 9113 section 6.5.2 recommends at least 100.
            limit = min(max(limit, 100), configuration.maxConcurrentStreams)
        }
        if limit != old || isFirst { pool.limitChanged(limit) }
        guard isFirst, !awaitsPing else { return }
        guard pool.pacing.isRecovering else { return becomeReady() }
        awaitsPing = true
        session.sayPing()
    }

    private func becomeReady() {
        awaitsPing = false
        state = .ready
        opened = .now()
        pool.connectionOpened(self)
    }

    // MARK: Writing

    /// How many of the waiting requests can be sent at once, after the first `taken`, which other connections take.
    func fitting(_ pending: PendingRequests, behind taken: Int, atMost room: Int) -> Int {
        pending.fitting(behind: taken, atMost: room, unsent: session.unsentBodyBytes, window: session.sendWindow)
    }

    /// Sets the time of the next submissions to the session; ``send()`` must follow them.
    func startSubmitting() {
        let now = NIODeadline.now()
        session.now = now.uptimeNanoseconds
        // Silence while the server had nothing to answer does not count.
        if session.streams.count == 0 { quietSince = now }
    }

    /// Writes the session's output, and delivers requests that end with it.
    func send() {
        write()
        // A stream that was answered early ends when its last frame is written. Its slot is reused in a separate task,
        // because submitting here would recurse.
        guard !session.completions.isEmpty else { return }
        pool.deliver(self)
        pool.pumpSoon()
    }

    private func write() {
        guard let context else { return }
        var hasMore = true
        // A flush that fails ends the connection.
        // Output that the server does not read stays in the session, which limits it.
        while hasMore, state != .closing, state != .closed, context.channel.isWritable {
            pool.output.clear(minimumCapacity: Self.outputPiece)
            hasMore = session.serialise(into: &pool.output, limit: Self.outputPiece - Self.lastRequest)
            if pool.output.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(pool.output), promise: nil) }
        }
        // The session ends here after a server's error; `closeIfDone` handles an orderly end.
        if session.isFinished || session.ownGoAway != nil, state != .draining || session.streams.count > 0 {
            close("the server broke the HTTP/2 protocol: \(session.ownGoAway ?? "the session has ended")")
        }
    }
}

/// The end of a connection, and its periodic checks.
extension HTTP2ClientConnection {
    /// Takes no more requests and closes once the outstanding ones are resolved.
    func drain() {
        switch state {
        case .ready: state = .draining
        case .opening: close(nil)
        case .draining, .closing, .closed: break
        }
    }

    func closeIfDone() {
        guard state == .draining, session.streams.count == 0 else { return }
        session.goAway()
        send()
        close(nil)
    }

    /// Checks deadlines, PING and retirement; called at least once a second.
    func tick(_ now: NIODeadline) {
        guard state == .ready || state == .draining else { return }
        session.now = now.uptimeNanoseconds
        expireRequests(now, after: configuration.connections.requestTimeoutMilliseconds)
        watchSilence(now)
        send()
        closeIfDone()
    }

    /// Sends a PING; `told` is called when anything is received.
    func ask(_ told: @escaping () -> Void) {
        whenHeard = told
        session.sayPing()
        send()
    }

    /// Cancels requests that were sent longer ago than this.
    func giveUp(olderThanMilliseconds age: Int64, _ now: NIODeadline) {
        guard state == .ready || state == .draining else { return }
        expireRequests(now, after: age)
        send()
        closeIfDone()
    }

    private func expireRequests(_ now: NIODeadline, after milliseconds: Int64) {
        let timeout = UInt64(milliseconds) * 1_000_000
        guard now.uptimeNanoseconds > timeout, session.streams.count > 0 else { return }
        let moment = now.uptimeNanoseconds - timeout
        for streamID in session.submittedBefore(moment) {
            session.cancel(streamID, cause: .timeout)
        }
        pool.deliver(self)
        guard timeoutsInARow >= configuration.timeoutsBeforeRetirement, state == .ready else { return }
        drain()
        pool.broke(self, reason: "\(timeoutsInARow) requests in a row got no response in time")
    }

    private func watchSilence(_ now: NIODeadline) {
        guard session.streams.count > 0 else {
            pingSent = nil
            return
        }
        if let sent = pingSent {
            if now - sent >= .milliseconds(configuration.pingTimeoutMilliseconds) {
                close("the server did not answer a PING within \(configuration.pingTimeoutMilliseconds) ms")
            }
        } else if now - quietSince >= .milliseconds(configuration.pingAfterSilenceMilliseconds) {
            session.sayPing()
            pingSent = now
        }
    }
}
