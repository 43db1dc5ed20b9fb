import NIOCore
import NIOSSL

/// The connections of a client and the requests that wait for them; everything here happens on the event loop.
final class HTTP2ClientPool {
    let configuration: HTTP2ClientConfiguration
    let eventLoop: any EventLoop
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
    /// Set while the delegate is being told of completions: what it submits meanwhile waits for the end of the call.
    var isDelivering = false
    /// The delegate submitted something while it was being told: it is spread over all connections.
    var hasNewRequests = false
    /// What the loop does after its present round.
    private var round = Round()
    /// Requests that are on their way back to the delegate.
    private var returning = Returning()
    /// What the delegate is told of when requests leave; kept, so that telling it costs no allocation.
    var departures: [HTTP2Departure] = []
    /// What a connection writes; one for all, as only one writes at a time and hundreds of such buffers are tens of megabytes.
    var output = ByteBuffer()

    private struct Round {
        /// Connections that have read in it.
        var readers: [HTTP2ClientConnection] = []
        /// What waits is to be spread over all connections at its end.
        var pumps = false
    }

    /// Requests that go back in a task of their own.
    private struct Returning {
        var completions: [HTTP2Completion] = []
        var isScheduled = false
    }

    /// How many connections there are to be, and what is seen of them.
    struct Sizing {
        var size: ConnectionSetSize
        fileprivate var seen = ConnectionSetSize.Sample()
        fileprivate var sampler: RepeatedTask?
        /// How many requests may be on the wire at once, as the delegate was told last.
        fileprivate var toldCapacity = 0

        fileprivate init(_ connections: ConnectionOptions) {
            size = ConnectionSetSize(minimum: connections.fewest, maximum: connections.count)
        }
    }

    init(configuration: HTTP2ClientConfiguration, eventLoop: any EventLoop, delegate: any HTTP2ClientDelegate) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
        sizing = Sizing(configuration.connections)
        pacing = DialPacing(
            firstMilliseconds: configuration.connections.firstBackOffMilliseconds,
            maximumMilliseconds: configuration.connections.maximumBackOffMilliseconds
        )
    }

    func start() throws {
        guard ticker == nil, !isStopping else { return }
        if let tls = configuration.tls { tlsContext = try Self.context(tls) }
        // Deadlines are met to within a tick; a quarter of the shortest one is precise enough for each of them.
        let shortest = min(
            configuration.connections.requestTimeoutMilliseconds,
            configuration.pingAfterSilenceMilliseconds,
            configuration.pingTimeoutMilliseconds
        )
        let period = TimeAmount.milliseconds(max(10, min(1_000, shortest / 4)))
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.tick() }
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

    // MARK: What connections tell

    func completed(_ completions: [HTTP2Completion]) {
        for completion in completions { count(completion) }
        isDelivering = true
        delegate.completed(completions)
        isDelivering = false
    }

    /// Events may come before the completions of the same read: what is submitted here must not get their slots yet.
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

    /// A connection brought its first answer: the server is well.
    func connectionProved() {
        let wasRecovering = pacing.isRecovering
        pacing.answered()
        if wasRecovering { pumpSoon() }
    }

    func goAway(_ connection: HTTP2ClientConnection, _ event: HTTP2ConnectionEvent) {
        tell(event)
        if case .goAway(.enhanceYourCalm, _, _, wasInUse: true) = event { backOff() }
        tellCapacity()
        // Refused before the first answer, as APNs does with a bad certificate, or after each: dialling at once would be a storm.
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

    // MARK: Watching and ending

    private func tick() {
        let now = NIODeadline.now()
        for connection in connections { connection.tick(now) }
        look(now)
        pump()
    }

    /// Asks all open connections whether the server is there, and ends those on which nothing comes back in time.
    ///
    /// - Parameter promise: whether one of them has answered; nil if none is open.
    func ping(timeoutMilliseconds: Int64, _ promise: EventLoopPromise<Bool?>) {
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

    func giveUp(olderThanMilliseconds age: Int64) {
        let now = NIODeadline.now()
        for connection in connections { connection.giveUp(olderThanMilliseconds: age, now) }
        pump()
    }

    /// Replaces all connections: the present ones take no more requests and end when theirs are resolved. One that is being
    /// opened has not had a request and stays.
    func retireConnections() {
        for connection in connections where connection.state != .opening {
            connection.drain()
            connection.tick(.now())
        }
        pump()
    }

    /// Gives back what waits, lets what is on the wire resolve, then closes.
    func stop(_ promise: EventLoopPromise<Void>) {
        if isStopping {
            stopPromise?.futureResult.cascade(to: promise)
            return
        }
        isStopping = true
        stopPromise = promise
        cancelQueued()
        for connection in connections {
            connection.drain()
            connection.tick(.now())
        }
        finishStopping()
    }

    func finishStopping() {
        // An attempt to connect is not waited for: it may take as long as its timeout, and is dropped when it succeeds.
        guard isStopping, !isStopped, connections.isEmpty else { return }
        isStopped = true
        ticker?.cancel()
        sizing.sampler?.cancel()
        stopPromise?.succeed()
    }

    var status: HTTP2ClientStatus {
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

/// How requests wait, leave and come back.
extension HTTP2ClientPool {
    func submit(_ batch: HTTP2RequestBatch) {
        guard !isStopping else {
            // Later, as the delegate may be submitting from inside of `completed`.
            return giveBackSoon((0..<Int32(batch.count)).map { Self.cancelled(batch, $0) })
        }
        pending.append(batch)
        // Batches that are submitted one after the other are spread over the connections together.
        if isDelivering { hasNewRequests = true } else { pumpSoon() }
    }

    /// Gives back all requests that wait for a stream.
    func cancelQueued() {
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

    /// Gives requests back in a task of its own: whoever made them return may be in the middle of submitting.
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

    /// Spreads what waits over the connections that have room.
    func pump() {
        hasNewRequests = false
        fill(connections.filter { $0.room > 0 })
        if pending.count > 0 { lookOften() }
        dialMissing()
    }

    /// A connection has read what there was, or can write again.
    ///
    /// All that read in one round of the loop are taken together: their answers are recorded in one go, and then what leaves on their
    /// streams. With hundreds of connections each brings an answer or two, and a record of its own for each costs as much as the answer.
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
        let completions = readers.count == 1 ? readers[0].takeCompletions() : readers.flatMap { $0.takeCompletions() }
        if !completions.isEmpty { completed(completions) }
        // What was submitted meanwhile is for all connections, and not for these.
        if hasNewRequests || round.pumps {
            round.pumps = false
            pump()
        } else {
            fill(readers.filter { $0.room > 0 })
            // The last ones are less than a block, and others may have had room for so many all along.
            if pending.count > 0, pending.count < min(waiting, HTTP2ClientConnection.mostInBlock) {
                fill(connections.filter { $0.room > 0 })
            }
        }
        for connection in readers {
            connection.send()
            connection.closeIfDone()
        }
    }

    /// Spreads what waits in a task of its own.
    func pumpSoon() {
        guard !round.pumps else { return }
        round.pumps = true
        eventLoop.assumeIsolated().execute {
            // A round that ended meanwhile may have done so.
            guard self.round.pumps else { return }
            self.round.pumps = false
            self.pump()
        }
    }

    /// Gives connections that have room what waits, each its share, and has them write it.
    ///
    /// What a window keeps back is neither announced nor submitted; the server tells of more room in a frame, and the connection comes
    /// here again.
    private func fill(_ ready: [HTTP2ClientConnection]) {
        var shares = [Int](repeating: 0, count: ready.count)
        var leaving = 0
        var before = -1
        // What one pass leaves may be less than a block, and then there is room for it where a block had none.
        while leaving > before, leaving < pending.count {
            before = leaving
            spread(over: ready, &shares, &leaving)
        }
        for (place, connection) in ready.enumerated() where leaving < pending.urgent && shares[place] == 0 {
            let most = min(connection.room, pending.urgent - leaving)
            shares[place] = connection.fitting(pending, behind: leaving, atMost: most)
            leaving += shares[place]
        }
        guard leaving > 0, announce(leaving) else { return }
        for (connection, share) in zip(ready, shares) where share > 0 {
            submit(share, to: connection)
            connection.send()
        }
    }

    /// Gives those that take what waits their shares, evenly; those with the least room first, so that others take what these cannot.
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
            let most = min(max(taker.open, urgent), share)
            shares[taker.place] = connection.fitting(pending, behind: leaving, atMost: most)
            leaving += shares[taker.place]
        }
    }

    /// How many streams a connection has for requests that wait.
    ///
    /// One with room for less than a block waits until more of its answers have come, unless none come. Urgent requests do not.
    private func open(_ connection: HTTP2ClientConnection, waiting: Int) -> Int {
        let rest = connection.room - connection.kept
        return rest < min(connection.block, waiting) && !connection.isQuiet ? 0 : max(0, rest)
    }

    /// Where no answer comes, as where a server leaves requests open, streams that are free do not wait for more of them.
    private func fillQuiet(_ now: NIODeadline) {
        guard pending.count > 0 else { return }
        let mean = Double(sizing.seen.latencySum) / Double(max(1, sizing.seen.answered))
        let timeout = max(Self.leastQuietTimeout, min(Self.mostQuietTimeout, .microseconds(Int64(2 * mean))))
        for connection in connections { connection.isQuiet = now - connection.quietSince > timeout }
        fill(connections.filter { $0.room > 0 })
    }

    private func submit(_ share: Int, to connection: HTTP2ClientConnection) {
        var leaving = share
        connection.startSubmitting()
        while leaving > 0, let run = pending.firstRun(atMost: leaving) {
            var next = run.range.lowerBound
            while next < run.range.upperBound, connection.submit(run.batch, index: next) { next += 1 }
            pending.removeFirst(Int(next - run.range.lowerBound))
            leaving -= run.range.count
            if next < run.range.upperBound { return dialMissing() }
        }
    }

    /// Tells the owner which requests are about to leave; if they must not, all that waits is given back.
    private func announce(_ leaving: Int) -> Bool {
        pending.announce(leaving, into: &departures)
        guard !departures.isEmpty else { return true }
        isDelivering = true
        let mayLeave = delegate.aboutToSend(departures)
        isDelivering = false
        departures.removeAll(keepingCapacity: true)
        // What was submitted meanwhile waits for the caller to be done with this connection.
        if hasNewRequests { pumpSoon() }
        if mayLeave { return true }
        takePending()
        giveBackSoon([])
        return false
    }
}

/// How the set gets its size.
extension HTTP2ClientPool {
    /// Between two looks at a set that has requests to wait for: a period of ``ConnectionSetSize`` has some of them.
    private static let lookInterval = TimeAmount.milliseconds(20)
    /// A connection counts as quiet without answers for twice the mean latency, by when those of a block have come, where they come at all; not
    /// sooner than this…
    private static let leastQuietTimeout = TimeAmount.milliseconds(100)
    /// …nor later than this: a gateway that takes seconds is not well.
    private static let mostQuietTimeout = TimeAmount.seconds(2)

    private func count(_ completion: HTTP2Completion) {
        switch completion.result {
        case .response:
            sizing.seen.answered += 1
            sizing.seen.latencySum += Int64(completion.latencyMicroseconds)
        case .unprocessed(let failure) where failure.cause == .reset(.refusedStream): sizing.seen.refused += 1
        case .unprocessed, .ambiguous: break
        }
    }

    /// Looks often as long as requests are waiting or on the wire; a client without work has the ticker only.
    private func lookOften() {
        guard sizing.sampler == nil, !isStopping else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        sizing.sampler = eventLoop.scheduleRepeatedTask(initialDelay: Self.lookInterval, delay: Self.lookInterval) {
            task in
            let pool = bound.value
            let now = NIODeadline.now()
            pool.look(now)
            pool.fillQuiet(now)
            guard pool.pending.count == 0, pool.sizing.seen.inFlight == 0 else { return }
            pool.sizing.sampler = nil
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
    func backOff() {
        if sizing.size.backOff(at: .now()) { resize() }
    }

    /// Opens what is missing; what is too much takes no more requests, and ends with its last one.
    private func resize() {
        let ready = connections.filter { $0.state == .ready }.sorted { $0.streamsInFlight < $1.streamsInFlight }
        for connection in ready.prefix(max(0, ready.count - sizing.size.target)) {
            connection.drain()
            connection.tick(.now())
        }
        tellCapacity()
        pump()
    }

    /// Tells how many requests may be on the wire at once.
    private func tellCapacity() {
        let capacity = connections.reduce(0) { $0 + ($1.state == .ready ? $1.limit : 0) }
        guard capacity != sizing.toldCapacity else { return }
        sizing.toldCapacity = capacity
        tell(.capacityChanged(capacity))
    }
}
