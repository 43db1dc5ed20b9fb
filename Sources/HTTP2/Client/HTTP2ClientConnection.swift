import NIOCore
import NIOTLS

/// One connection of a client: moves bytes between the channel and its session, and watches over the session's life.
///
/// All of it happens on the event loop. The pool that owns the connection decides which requests it gets.
final class HTTP2ClientConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// Waits for TLS and the server's first SETTINGS frame.
        case opening
        /// Takes requests.
        case ready
        /// Takes no more requests; ends when the last outstanding one is resolved.
        case draining
        /// The channel was told to close, which TLS may take seconds for: nothing more is sent or read.
        case closing
        case closed
    }

    /// What is written is flushed in pieces of this size: NIOSSL keeps a buffer for the most that was ever flushed at once for as long as the
    /// connection lives. In pieces of 64 KiB 400 connections to FCM kept 22 MiB. A block of requests with short payloads, of 17 KiB, is one piece.
    private static let outputPiece = 20 * 1_024
    /// So much of a piece is left for the last request, which is written whole.
    private static let lastRequest = 1_024

    let configuration: HTTP2ClientConfiguration
    private let pool: HTTP2ClientPool
    let session: ClientSession
    var state = State.opening
    private(set) var limit: Int
    private var context: ChannelHandlerContext?
    /// Since when the server owes us a word: its last one, or the moment at which there was something to answer again.
    var quietSince = NIODeadline.now()
    var pingSent: NIODeadline?
    /// Called once with the next bytes that come, for who has asked whether the server is there.
    var whenHeard: (() -> Void)?
    var timeoutsInARow = 0
    private(set) var closeReason: String?
    /// When the first SETTINGS frame came, if it did.
    private(set) var opened: NIODeadline?
    /// It brought an answer.
    private(set) var isProved = false
    /// The pool knows that it broke.
    var isCounted = false
    /// It has read in the loop's present round.
    var isInRound = false
    /// Opened after failures, so that it takes requests only when the server has answered a PING: one that breaks at once gets none.
    private(set) var awaitsPing = false
    /// The remote address, for logs and status.
    private(set) var address = ""
    /// TLS is broken, and hands over what came whole before that.
    private var isTakingRest = false

    init(configuration: HTTP2ClientConfiguration, pool: HTTP2ClientPool) throws {
        self.configuration = configuration
        self.pool = pool
        session = try ClientSession()
        limit = min(configuration.initialMaxConcurrentStreams, configuration.maxConcurrentStreams)
    }

    var streamsInFlight: Int { session.streams.count }

    /// Streams that may be opened now; none while the owner has not recorded the answers whose streams they were.
    var room: Int {
        guard state == .ready, session.completions.isEmpty, session.ownGoAway == nil, !isTakingRest,
            context?.channel.isWritable == true
        else { return 0 }
        return max(0, limit - session.streams.count)
    }

    /// Streams that only urgent requests get: at a gateway that takes its time an urgent one would else wait for somebody's answer.
    ///
    /// A sixteenth is 62 of APNs' 1,000 and 6 of FCM's 100. Where that is too little for the rest, the set of connections grows.
    var kept: Int { limit / 16 }

    /// So many requests leave together, where as many wait: what is written one by one costs each end a system call and a TLS record a
    /// request. With them the answers come together, too, as long as latencies are alike.
    ///
    /// At 50 ms FCM came to 147,000 messages a second with blocks of 6, 158,000 with 16, 183,000 with 31, 203,000 with 47; but the more of its
    /// 100 streams there are in one, the fewer without an answer keep back all others. APNs came to 212,000, 225,000 and 229,000 with 16, 64
    /// and 128 (700,000 messages each, November 2026).
    var block: Int { min(Self.mostInBlock, limit / 3) }

    /// So many requests of 340 bytes, with a short payload, fill a TLS record.
    static let mostInBlock = 48

    /// Whether nothing has come for so long that free streams wait for no more of them.
    var isQuiet = false

    /// Free streams that requests do not get now, as they wait for more of them or the server takes nothing more at the moment.
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
        // What TLS says while it hands over the rest is no news, and asking it again would have no end.
        guard !isTakingRest else { return }
        // The answers of the same read that came before a broken record are with TLS until the read ends, which then does not come.
        if state == .ready || state == .draining {
            isTakingRest = true
            context.pipeline.fireChannelReadComplete()
            isTakingRest = false
        }
        close(String(describing: error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard state != .closed else { return }
        // A GOAWAY that came with the end.
        handleNotices()
        let wasOrderly = state == .closing || (state == .draining && session.streams.count == 0)
        state = .closed
        session.now = NIODeadline.now().uptimeNanoseconds
        session.connectionLost()
        deliver()
        let reason = closeReason ?? (wasOrderly ? nil : ending)
        pool.connectionClosed(self, reason: reason)
    }

    /// How far the connection was when the server ended it.
    private var ending: String {
        if opened == nil { return "the server ended the connection before its SETTINGS" }
        return session.hasAnswered
            ? "the server ended the connection" : "the server ended the connection before it answered anything"
    }

    /// Ends the connection; what is outstanding is resolved when the channel has become inactive.
    /// - Parameter reason: nil if the connection ends as it should.
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
            // A server that names no limit has none; 100 is the least that RFC 9113 section 6.5.2 recommends.
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

    /// Hands over what has ended. The owner records it before any of the slots is used again.
    func deliver() {
        let completions = takeCompletions()
        if !completions.isEmpty { pool.completed(completions) }
    }

    /// Takes what has ended; the caller hands it over.
    func takeCompletions() -> [HTTP2Completion] {
        guard !session.completions.isEmpty else { return [] }
        let completions = session.completions
        session.completions = []
        session.completions.reserveCapacity(completions.count)
        for completion in completions {
            switch completion.result {
            case .response:
                if !isProved { pool.connectionProved() }
                isProved = true
                timeoutsInARow = 0
            case .ambiguous(let failure) where failure.cause == .timeout: timeoutsInARow += 1
            default: break
            }
        }
        return completions
    }

    // MARK: Writing

    /// How many of the requests that wait, but for those in front that others take, can be sent at once.
    func fitting(_ pending: PendingRequests, behind taken: Int, atMost room: Int) -> Int {
        pending.fitting(behind: taken, atMost: room, unsent: session.unsentBodyBytes, window: session.sendWindow)
    }

    /// Opens a stream for a request; ``send()`` must follow.
    func submit(_ batch: HTTP2RequestBatch, index: Int32) -> Bool {
        guard session.nextStreamID < configuration.lastStreamID, session.submit(batch, index: index) else {
            drain()
            return false
        }
        return true
    }

    /// Sets the clock that the next submissions are timed with.
    func startSubmitting() {
        let now = NIODeadline.now()
        session.now = now.uptimeNanoseconds
        // The silence before, in which the server had nothing to answer, does not count.
        if session.streams.count == 0 { quietSince = now }
    }

    /// Writes all that the session has to say, and hands over what has ended by that.
    func send() {
        write()
        // Streams end while their last frame is written if they were answered early. Their slots are used again in a task of its own,
        // or what is submitted then would become a recursion.
        guard !session.completions.isEmpty else { return }
        deliver()
        pool.pumpSoon()
    }

    private func write() {
        guard let context else { return }
        var hasMore = true
        // A flush that fails ends the connection.
        // What the server does not read stays with the session, which bounds it.
        while hasMore, state != .closing, state != .closed, context.channel.isWritable {
            pool.output.clear(minimumCapacity: Self.outputPiece)
            hasMore = session.serialise(into: &pool.output, limit: Self.outputPiece - Self.lastRequest)
            if pool.output.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(pool.output), promise: nil) }
        }
        // The session ends after an error of the server's; an orderly end is `closeIfDone`'s.
        if session.isFinished || session.ownGoAway != nil, state != .draining || session.streams.count > 0 {
            close("the server broke the HTTP/2 protocol: \(session.ownGoAway ?? "the session has ended")")
        }
    }
}

/// How a connection ends, and what it looks at from time to time.
extension HTTP2ClientConnection {
    /// Takes no more requests, and closes once the outstanding ones are resolved.
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

    /// Once a second or more often: deadlines, PING, retirement.
    func tick(_ now: NIODeadline) {
        guard state == .ready || state == .draining else { return }
        session.now = now.uptimeNanoseconds
        expireRequests(now, after: configuration.connections.requestTimeoutMilliseconds)
        watchSilence(now)
        send()
        closeIfDone()
    }

    /// Asks the server whether it is there; `told` is called when it says anything.
    func ask(_ told: @escaping () -> Void) {
        whenHeard = told
        session.sayPing()
        send()
    }

    /// Cancels requests that were sent longer ago than that.
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
        deliver()
        guard timeoutsInARow >= configuration.timeoutsBeforeRetirement, state == .ready else { return }
        drain()
        pool.broke(self, reason: "\(timeoutsInARow) requests in a row had no answer in time")
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
