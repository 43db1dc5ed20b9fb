// HTTP2: HTTP/2 on SwiftNIO, a client for the gateways and a server for the simulator.
//
// WHAT IT DOES
//   The client holds a set of connections to one server, sends batches of small requests over them and follows the
//   server's stream limit. It reports how each request ended: with a response, unprocessed (safe to send again) or
//   ambiguous (it was written and may have been processed). The server passes complete requests to a delegate and
//   writes its responses. DialPacing, HTTP2Proxy with TunnelHandler, and SocketQueue also serve the gateways that do
//   not speak HTTP/2.
//
// HOW IT IS USED
//   Gateways makes an HTTP2ClientPool with a configuration, an event loop and an HTTP2ClientDelegate. It calls start(),
//   or begin() on the loop, submit(_:) with filled HTTP2RequestBatches, and shutdown(). The pool calls the delegate's
//   aboutToSend(_:) before it opens streams, completed(_:) for all requests that one read resolved, and
//   connectionEvent(_:). GatewaySimulator adds an HTTP2ServerHandler with an HTTP2ServerDelegate to a channel. The
//   laboratory's bench drives the pool directly.
//
// THREADS AND TASKS
//   Everything runs on one event loop. Delegate calls run there too: blocking in one stops the sending. Calls from
//   other threads hop once. The effects of frames are recorded while a read is parsed, and handled after it.
//
// STATE AND FILES
//   In memory only. A batch owns the memory of its paths, values and bodies until all of its requests are written; each
//   open stream keeps its batch alive. FrameSession parses frames and keeps the windows and the output; ClientSession
//   and ServerSession keep the streams. HeaderEncoder writes header blocks, and nghttp2 reads them. The trust roots are
//   read from a file at the start, and again after dialling has failed.
//
// FAILURES
//   No connection: the client tells the delegate and dials again, with a new DNS lookup, after pauses that double from
//   1 s to 5 s. It tries one connection at a time until one has brought a response.
//   No response by the deadline: the stream is reset with CANCEL. The request is ambiguous, or unprocessed if nothing
//   of its body was written. After three in a row the connection is retired.
//   Silence with requests open: a PING; if it is not answered, the connection ends.
//   GOAWAY: requests above its last stream id are unprocessed; the others continue. However a server ends a connection,
//   DialPacing decides when the next one is dialled.
//   Output that a server causes is limited: nothing more is written while it does not read. A request is never repeated
//   and is resolved exactly once.
//
// SETTINGS
//   None of its own: HTTP2ClientConfiguration and HTTP2ServerSettings hold them, with the reason for each value.
//
// SEE ALSO
//   Client/HTTP2ClientDelegate.swift, Client/HTTP2ClientConnection.swift, FrameSession.swift, Client/ClientSession.swift,
//   Client/HeaderEncoder.swift, Client/HTTP2RequestBatch.swift, Client/DialPacing.swift, Server/HTTP2ServerHandler.swift,
//   Sources/CNGHTTP2/module.modulemap

import NIOCore
import NIOSSL

/// A set of HTTP/2 connections to one server: batches of requests in, the end of each request out.
///
/// It dials and redials by itself (with a new DNS lookup and a back-off with jitter each time), follows the server's limit
/// of concurrent streams, and resolves every request exactly once: as a response, as *unprocessed* (it may be sent again
/// without a duplicate) or as *ambiguous* (it was written, and it is unknown whether it was processed). It never repeats
/// a request.
package final class HTTP2ClientPool: @unchecked Sendable {
    // Unchecked: only the event loop touches mutable state. Methods that other targets call from any thread hop to it.

    let configuration: HTTP2ClientConfiguration
    package let eventLoop: any EventLoop
    let delegate: any HTTP2ClientDelegate
    var tlsContext: NIOSSLContext?
    var connections: [HTTP2ClientConnection] = []
    var dialing = 0
    var pacing: DialPacing
    var pending = PendingRequests()
    var random = SystemRandomNumberGenerator()
    private var ticker: RepeatedTask?
    var sizing: Sizing
    var isStopping = false
    private var isStopped = false
    private var stopPromise: EventLoopPromise<Void>?
    /// Whether a delegate call is in progress; batches submitted during it wait for its end.
    var isDelivering = false
    /// Whether the delegate submitted a batch during a call; it is then spread over all connections.
    var hasNewRequests = false
    /// Work for the end of the event loop's current round.
    private var round = Round()
    /// Requests that are being returned to the delegate.
    private var returning = Returning()
    /// The buffer for the announcement of departing requests; reused to avoid an allocation.
    var departures: [HTTP2Departure] = []
    /// The output buffer. All connections share it, because only one writes at a time and hundreds of buffers would be
    /// tens of megabytes.
    var output = ByteBuffer()

    private struct Round {
        /// Connections that have read in the round.
        var readers: [HTTP2ClientConnection] = []
        /// Whether waiting requests are to be spread over all connections at its end.
        var pumps = false
    }

    /// Requests that are returned in a separate task.
    private struct Returning {
        var completions: [HTTP2Completion] = []
        var isScheduled = false
    }

    /// The target number of connections, and the samples that determine it.
    struct Sizing {
        var size: ConnectionSetSize
        fileprivate var seen = ConnectionSetSize.Sample()
        fileprivate var sampler: RepeatedTask?
        /// The capacity that was last reported to the delegate.
        fileprivate var toldCapacity = 0

        fileprivate init(_ connections: ConnectionOptions) {
            size = ConnectionSetSize(minimum: connections.fewest, maximum: connections.count)
        }
    }

    /// - Parameter delegate: told of every end and event, on `eventLoop`; kept as long as the pool.
    package init(
        configuration: HTTP2ClientConfiguration,
        eventLoop: any EventLoop,
        delegate: any HTTP2ClientDelegate
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
        sizing = Sizing(configuration.connections)
        pacing = DialPacing(
            firstMilliseconds: configuration.connections.firstBackOffMilliseconds,
            maxMilliseconds: configuration.connections.maxBackOffMilliseconds
        )
    }

    /// Begins to connect, on the event loop.
    ///
    /// - Throws: if the trust roots cannot be read. Trouble with connections is told to the delegate and tried again.
    package func begin() throws {
        eventLoop.preconditionInEventLoop()
        guard ticker == nil, !isStopping else { return }
        if let tls = configuration.tls { tlsContext = try Self.context(tls) }
        // Deadlines are precise to a tick; a quarter of the shortest one suffices.
        let shortest = min(
            configuration.connections.requestTimeoutMilliseconds,
            configuration.pingAfterSilenceMilliseconds,
            configuration.pingTimeoutMilliseconds
        )
        let period = TimeAmount.milliseconds(max(10, min(1_000, shortest / 4)))
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in self.tick() }
        dialMissing()
    }

    static func context(_ tls: HTTP2TLS) throws -> NIOSSLContext {
        var options = TLSConfiguration.makeClientConfiguration()
        options.applicationProtocols = ["h2"]
        options.minimumTLSVersion = .tlsv12
        if let file = tls.trustRootsFile { options.trustRoots = .file(file) }
        if let identity = tls.identity {
            options.certificateChain = identity.certificateChain.map { .certificate($0) }
            options.privateKey = .privateKey(identity.privateKey)
        }
        return try NIOSSLContext(configuration: options)
    }

    // MARK: Calls from connections

    private func completed(_ completions: [HTTP2Completion]) {
        isDelivering = true
        delegate.completed(completions)
        isDelivering = false
    }

    /// An event may precede the completions of the same read; batches submitted here must not get their slots yet.
    func tell(_ event: HTTP2ConnectionEvent) {
        isDelivering = true
        delegate.connectionEvent(event)
        isDelivering = false
    }

    func limitChanged(_ limit: Int) {
        tell(.limitChanged(limit))
        tellCapacity()
    }

    func connectionOpened(_ connection: HTTP2ClientConnection) {
        tell(.opened(address: connection.address))
        tellCapacity()
    }

    /// A connection brought its first response: the server is well.
    private func proved(_ connection: HTTP2ClientConnection) {
        connection.isProved = true
        let wasRecovering = pacing.isRecovering
        pacing.answered()
        if wasRecovering { pumpSoon() }
    }

    func goAway(_ connection: HTTP2ClientConnection, _ event: HTTP2ConnectionEvent) {
        tell(event)
        if case .goAway(.enhanceYourCalm, _, _, wasInUse: true) = event { shrink() }
        tellCapacity()
        // The GOAWAY may come before the first response, as APNs does for a bad certificate, or after each. Dialling at
        // once would cause a storm.
        let isEarly = !connection.session.hasAnswered
        broke(connection, reason: "the server sent GOAWAY\(isEarly ? " before it answered" : "")")
        dialMissing()
    }

    func connectionClosed(_ connection: HTTP2ClientConnection, reason: String?) {
        guard connections.contains(where: { $0 === connection }) else { return }
        if let reason { broke(connection, reason: reason) }
        connections.removeAll { $0 === connection }
        if connection.opened != nil { tell(.closed(reason: reason)) }
        tellCapacity()
        if isStopping { return finishStopping() }
        pump()
    }

    // MARK: Supervision and shutdown

    private func tick() {
        let now = NIODeadline.now()
        for connection in connections { connection.tick(now) }
        look(now)
        pump()
    }

    private func ping(_ timeoutMilliseconds: Int64, _ promise: EventLoopPromise<Bool?>) {
        let asked = connections.filter { $0.state == .ready }
        guard !asked.isEmpty, !isStopping else { return promise.succeed(nil) }
        var isAnswered = false
        let answer = { (isThere: Bool) in
            if !isAnswered { promise.succeed(isThere) }
            isAnswered = true
        }
        for connection in asked { connection.ask { answer(true) } }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(timeoutMilliseconds)) {
            for connection in asked where connection.whenHeard != nil {
                connection.close("the server did not answer a PING within \(timeoutMilliseconds) ms")
            }
            answer(false)
        }
    }

    private func stop(_ promise: EventLoopPromise<Void>) {
        if isStopping {
            stopPromise?.futureResult.cascade(to: promise)
            return
        }
        isStopping = true
        stopPromise = promise
        giveBackQueued()
        for connection in connections {
            connection.drain()
            connection.tick(.now())
        }
        finishStopping()
    }

    private func finishStopping() {
        // Does not wait for an attempt to connect, which may take until its timeout. If it succeeds, the connection is
        // closed.
        guard isStopping, !isStopped, connections.isEmpty else { return }
        isStopped = true
        ticker?.cancel()
        sizing.sampler?.cancel()
        stopPromise?.succeed()
    }

    var figures: HTTP2ClientStatus {
        let ready = connections.filter { $0.state == .ready }
        return HTTP2ClientStatus(
            connections: ready.count,
            streamsInFlight: connections.reduce(0) { $0 + $1.streamsInFlight },
            queued: pending.count,
            streamLimit: ready.reduce(0) { $0 + $1.limit },
            size: sizing.size
        )
    }
}

/// The methods that are called from any thread. Each hops to the event loop once.
extension HTTP2ClientPool {
    /// Begins to connect.
    ///
    /// - Throws: as ``begin()``.
    package func start() async throws {
        try await eventLoop.submit { try self.begin() }.get()
    }

    /// Queues a batch, once.
    package func submit(_ batch: HTTP2RequestBatch) {
        if eventLoop.inEventLoop { take(batch) } else { eventLoop.execute { self.take(batch) } }
    }

    /// Returns the requests that wait for a stream as *unprocessed*.
    package func cancelQueued() {
        eventLoop.execute { self.giveBackQueued() }
    }

    /// Replaces all connections: the current ones take no more requests and end when theirs are resolved. One that is
    /// still being opened has had no request and stays.
    package func retireConnections() {
        eventLoop.execute {
            for connection in self.connections where connection.state != .opening {
                connection.drain()
                connection.tick(.now())
            }
            self.pump()
        }
    }

    /// Sends a PING on all open connections, and ends those on which nothing is received in time.
    ///
    /// Returns whether any of them has received something; nil if none is open.
    package func ping(timeoutMilliseconds: Int64) async -> Bool? {
        let promise = eventLoop.makePromise(of: Bool?.self)
        eventLoop.execute { self.ping(timeoutMilliseconds, promise) }
        return try? await promise.futureResult.get()
    }

    /// Cancels requests that were sent longer ago than this, as if their deadline had passed.
    package func giveUp(olderThanMilliseconds age: Int64) {
        eventLoop.execute {
            let now = NIODeadline.now()
            for connection in self.connections { connection.giveUp(olderThanMilliseconds: age, now) }
            self.pump()
        }
    }

    /// Ends the pause between attempts to connect, because the problem may be fixed.
    package func retryNow() {
        eventLoop.execute {
            self.pacing.retryNow()
            self.pump()
        }
    }

    /// Holds fewer connections for a while, because the server asked this sender to send less.
    package func backOff() {
        eventLoop.execute { self.shrink() }
    }

    /// Returns the waiting requests, lets those on the wire resolve until their deadline, and closes the connections.
    package func shutdown() async {
        let promise = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { self.stop(promise) }
        try? await promise.futureResult.get()
    }

    package func status() async -> HTTP2ClientStatus? {
        try? await eventLoop.submit { self.figures }.get()
    }
}

/// Waiting, sent and returned requests.
extension HTTP2ClientPool {
    private func take(_ batch: HTTP2RequestBatch) {
        guard !isStopping else {
            // In a separate task, because the delegate may be submitting from inside `completed`.
            return giveBackSoon((0..<Int32(batch.count)).map { Self.cancelled(batch, $0) })
        }
        pending.append(batch)
        // Batches that are submitted in a row are spread over the connections together.
        if isDelivering { hasNewRequests = true } else { pumpSoon() }
    }

    /// Returns all requests that wait for a stream.
    private func giveBackQueued() {
        takePending()
        giveBack()
        if hasNewRequests { pump() }
    }

    private static func cancelled(_ batch: HTTP2RequestBatch, _ index: Int32) -> HTTP2Completion {
        let result = HTTP2Result.unprocessed(HTTP2Failure(.cancelled))
        return HTTP2Completion(batch: batch, index: index, latencyMicroseconds: 0, result: result)
    }

    private func takePending() {
        while let (batch, index) = pending.next() {
            returning.completions.append(Self.cancelled(batch, index))
        }
    }

    /// Returns requests in a separate task, because the caller may be in the middle of submitting.
    private func giveBackSoon(_ completions: [HTTP2Completion]) {
        returning.completions += completions
        guard !returning.completions.isEmpty, !returning.isScheduled else { return }
        returning.isScheduled = true
        eventLoop.assumeIsolated().execute {
            self.returning.isScheduled = false
            self.giveBack()
            if self.hasNewRequests { self.pump() }
        }
    }

    private func giveBack() {
        guard !returning.completions.isEmpty else { return }
        let completions = returning.completions
        returning.completions = []
        completed(completions)
    }

    /// Spreads the waiting requests over the connections that have room.
    func pump() {
        hasNewRequests = false
        fill(connections.filter { $0.room > 0 })
        if pending.count > 0 { lookOften() }
        dialMissing()
    }

    /// A connection has finished a read, or can write again.
    ///
    /// All connections that read in one round of the event loop are handled together: first their results are recorded
    /// in one call, then their streams get new requests. With hundreds of connections each brings only a response or
    /// two, and recording each separately would cost as much as the response.
    func hasRead(_ connection: HTTP2ClientConnection) {
        guard !connection.isInRound else { return }
        connection.isInRound = true
        round.readers.append(connection)
        guard round.readers.count == 1 else { return }
        if connections.count == 1 { return finishRound() }
        eventLoop.assumeIsolated().execute { self.finishRound() }
    }

    private func finishRound() {
        let readers = round.readers
        let waiting = pending.count
        round.readers.removeAll(keepingCapacity: true)
        for connection in readers { connection.isInRound = false }
        let completions = readers.count == 1 ? takeEnded(of: readers[0]) : readers.flatMap { takeEnded(of: $0) }
        if !completions.isEmpty { completed(completions) }
        // Batches submitted meanwhile are for all connections, not only for these.
        if hasNewRequests || round.pumps {
            round.pumps = false
            pump()
        } else {
            fill(readers.filter { $0.room > 0 })
            // Fewer than a block are left, and other connections may have had room for this many all along.
            if pending.count > 0, pending.count < min(waiting, HTTP2ClientConnection.maxInBlock) {
                fill(connections.filter { $0.room > 0 })
            }
        }
        for connection in readers {
            connection.send()
            connection.closeIfDone()
        }
    }

    /// Delivers the ended requests of a connection. The owner records them before any of their streams is reused.
    func deliver(_ connection: HTTP2ClientConnection) {
        let completions = takeEnded(of: connection)
        if !completions.isEmpty { completed(completions) }
    }

    private func takeEnded(of connection: HTTP2ClientConnection) -> [HTTP2Completion] {
        let session = connection.session
        guard !session.completions.isEmpty else { return [] }
        let completions = session.completions
        session.completions = []
        session.completions.reserveCapacity(completions.count)
        for completion in completions {
            switch completion.result {
            case .response:
                if !connection.isProved { proved(connection) }
                connection.timeoutsInARow = 0
                sizing.seen.answered += 1
                sizing.seen.latencySum += Int64(completion.latencyMicroseconds)
            case .ambiguous(let failure) where failure.cause == .timeout: connection.timeoutsInARow += 1
            case .unprocessed(let failure) where failure.cause == .reset(.refusedStream): sizing.seen.refused += 1
            case .unprocessed, .ambiguous: break
            }
        }
        return completions
    }

    /// Spreads the waiting requests in a separate task.
    func pumpSoon() {
        guard !round.pumps else { return }
        round.pumps = true
        eventLoop.assumeIsolated().execute {
            // A round that ended meanwhile may already have done it.
            guard self.round.pumps else { return }
            self.round.pumps = false
            self.pump()
        }
    }

    /// Gives each connection with room its share of the waiting requests, and writes them.
    ///
    /// Requests that do not fit into a window are neither announced nor submitted. When the server's WINDOW_UPDATE
    /// arrives, the connection calls again.
    private func fill(_ ready: [HTTP2ClientConnection]) {
        var shares = [Int](repeating: 0, count: ready.count)
        var leaving = 0
        var before = -1
        // A pass may leave less than a block, which then fits where a whole block did not.
        while leaving > before, leaving < pending.count {
            before = leaving
            spread(over: ready, &shares, &leaving)
        }
        for (place, connection) in ready.enumerated() where leaving < pending.urgent && shares[place] == 0 {
            let maxCount = min(connection.room, pending.urgent - leaving)
            shares[place] = connection.fitting(pending, behind: leaving, atMost: maxCount)
            leaving += shares[place]
        }
        guard leaving > 0, announce(leaving) else { return }
        for (connection, share) in zip(ready, shares) where share > 0 {
            submit(share, to: connection)
            connection.send()
        }
    }

    /// Divides the waiting requests evenly among the connections. Those with the least room come first, so that the
    /// others take the rest.
    private func spread(over ready: [HTTP2ClientConnection], _ shares: inout [Int], _ leaving: inout Int) {
        let waiting = pending.count - leaving
        var takers: [(place: Int, open: Int)] = []
        for (place, connection) in ready.enumerated() where shares[place] == 0 {
            let open = open(connection, waiting: waiting)
            if open > 0 { takers.append((place, open)) }
        }
        takers.sort { $0.open < $1.open }
        for (position, taker) in takers.enumerated() where pending.count > leaving {
            let connection = ready[taker.place]
            let left = takers.count - position
            let share = max(connection.block, (pending.count - leaving + left - 1) / left)
            let urgent = min(connection.room, pending.urgent - leaving)
            let maxCount = min(max(taker.open, urgent), share)
            shares[taker.place] = connection.fitting(pending, behind: leaving, atMost: maxCount)
            leaving += shares[taker.place]
        }
    }

    /// How many streams a connection offers to waiting requests.
    ///
    /// A connection with room for less than a block waits for more of its responses, unless it is quiet. Urgent
    /// requests do not wait.
    private func open(_ connection: HTTP2ClientConnection, waiting: Int) -> Int {
        let rest = connection.room - connection.kept
        return rest < min(connection.block, waiting) && !connection.isQuiet ? 0 : max(0, rest)
    }

    /// Fills connections that are quiet, for example because the server leaves requests open: their free streams no
    /// longer wait to form a block.
    private func fillQuiet(_ now: NIODeadline) {
        guard pending.count > 0 else { return }
        let mean = Double(sizing.seen.latencySum) / Double(max(1, sizing.seen.answered))
        let timeout = max(Self.minQuietTimeout, min(Self.maxQuietTimeout, .microseconds(Int64(2 * mean))))
        for connection in connections { connection.isQuiet = now - connection.quietSince > timeout }
        fill(connections.filter { $0.room > 0 })
    }

    private func submit(_ share: Int, to connection: HTTP2ClientConnection) {
        var leaving = share
        let session = connection.session
        connection.startSubmitting()
        while leaving > 0, let run = pending.firstRun(atMost: leaving) {
            var next = run.range.lowerBound
            while next < run.range.upperBound, session.submit(run.batch, index: next) { next += 1 }
            pending.removeFirst(Int(next - run.range.lowerBound))
            leaving -= run.range.count
            guard next == run.range.upperBound else {
                connection.drain()
                return dialMissing()
            }
        }
    }

    /// Announces the departing requests to the delegate. If it withholds them, all waiting requests are returned.
    private func announce(_ leaving: Int) -> Bool {
        pending.announce(leaving, into: &departures)
        guard !departures.isEmpty else { return true }
        isDelivering = true
        let mayLeave = delegate.aboutToSend(departures)
        isDelivering = false
        departures.removeAll(keepingCapacity: true)
        // Batches submitted meanwhile wait until the caller is done with this connection.
        if hasNewRequests { pumpSoon() }
        if mayLeave { return true }
        takePending()
        giveBackSoon([])
        return false
    }
}

/// The size of the connection set.
extension HTTP2ClientPool {
    /// The time between two samples while requests are waiting or on the wire; a period of ``ConnectionSetSize`` has
    /// several.
    private static let lookInterval = TimeAmount.milliseconds(20)
    /// A connection is quiet if nothing is received for twice the mean latency, by which time the responses of a block
    /// should have come. The limit is at least this…
    private static let minQuietTimeout = TimeAmount.milliseconds(100)
    /// …and at most this, because a gateway that takes seconds is not well.
    private static let maxQuietTimeout = TimeAmount.seconds(2)

    /// Samples frequently while requests are waiting or on the wire; an idle client has only the ticker.
    private func lookOften() {
        guard sizing.sampler == nil, !isStopping else { return }
        sizing.sampler = eventLoop.scheduleRepeatedTask(initialDelay: Self.lookInterval, delay: Self.lookInterval) {
            task in
            let now = NIODeadline.now()
            self.look(now)
            self.fillQuiet(now)
            guard self.pending.count == 0, self.sizing.seen.inFlight == 0 else { return }
            self.sizing.sampler = nil
            task.cancel()
        }
    }

    private func look(_ now: NIODeadline) {
        guard sizing.size.minimum < sizing.size.maximum else { return }
        sizing.seen.ready = 0
        sizing.seen.opening = dialing
        sizing.seen.streamLimit = 0
        sizing.seen.inFlight = 0
        sizing.seen.gathering = 0
        for connection in connections {
            switch connection.state {
            case .opening: sizing.seen.opening += 1
            case .ready:
                sizing.seen.ready += 1
                sizing.seen.streamLimit += connection.limit - connection.kept
                sizing.seen.inFlight += connection.streamsInFlight
                sizing.seen.gathering += connection.gathering
            case .draining, .closing, .closed: break
            }
        }
        sizing.seen.isWaiting = pending.count > 0
        if sizing.size.see(sizing.seen, at: now) { resize() }
    }

    /// The server wants fewer connections and requests.
    private func shrink() {
        if sizing.size.backOff(at: .now()) { resize() }
    }

    /// Opens missing connections; surplus ones take no more requests and end with their last one.
    private func resize() {
        let ready = connections.filter { $0.state == .ready }.sorted { $0.streamsInFlight < $1.streamsInFlight }
        for connection in ready.prefix(max(0, ready.count - sizing.size.target)) {
            connection.drain()
            connection.tick(.now())
        }
        tellCapacity()
        pump()
    }

    /// Reports the maximum number of requests on the wire, if it changed.
    private func tellCapacity() {
        let capacity = connections.reduce(0) { $0 + ($1.state == .ready ? $1.limit : 0) }
        guard capacity != sizing.toldCapacity else { return }
        sizing.toldCapacity = capacity
        tell(.capacityChanged(capacity))
    }
}

/// A client's figures at one moment.
package struct HTTP2ClientStatus: Sendable {
    /// Connections that are ready for requests.
    package var connections: Int
    /// Requests on the wire without an answer.
    package var streamsInFlight: Int
    /// Requests that wait for a stream.
    package var queued: Int
    /// The sum of the ready connections' limits of concurrent streams.
    package var streamLimit: Int
    /// How many connections there are to be, and why.
    package var size: ConnectionSetSize
}
