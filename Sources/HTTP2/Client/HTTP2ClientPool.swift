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
    var isStopping = false
    private var isStopped = false
    private var stopPromise: EventLoopPromise<Void>?
    /// Set while the delegate is being told of completions: what it submits meanwhile waits for the end of the call.
    var isDelivering = false
    /// The delegate submitted something while it was being told: it is spread over all connections.
    var hasNewRequests = false
    var pumpIsScheduled = false
    /// Requests that are on their way back to the delegate.
    var returning: [HTTP2Completion] = []
    var returnIsScheduled = false
    /// What the delegate is told of when requests leave; kept, so that telling it costs no allocation.
    var departures: [HTTP2Departure] = []

    init(configuration: HTTP2ClientConfiguration, eventLoop: any EventLoop, delegate: any HTTP2ClientDelegate) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
        pacing = DialPacing(
            firstMilliseconds: configuration.firstBackOffMilliseconds,
            maximumMilliseconds: configuration.maximumBackOffMilliseconds
        )
    }

    func start() throws {
        guard ticker == nil, !isStopping else { return }
        if let tls = configuration.tls { tlsContext = try Self.context(tls) }
        // Deadlines are met to within a tick; a quarter of the shortest one is precise enough for each of them.
        let shortest = min(
            configuration.requestTimeoutMilliseconds,
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
    }

    func connectionOpened(_ connection: HTTP2ClientConnection) {
        tell(.opened(address: connection.address))
    }

    /// A connection brought its first answer: the server is well.
    func connectionProved() {
        let wasRecovering = pacing.isRecovering
        pacing.answered()
        if wasRecovering { pumpSoon() }
    }

    func goAway(_ connection: HTTP2ClientConnection, _ event: HTTP2ConnectionEvent) {
        tell(event)
        if connection.wasGood {
            dialMissing()
        } else {
            // Refused before the first answer, as APNs does with a bad certificate: dialling at once would be a storm.
            broke(connection, reason: "the server sent GOAWAY before it answered")
        }
    }

    func connectionClosed(_ connection: HTTP2ClientConnection, reason: String?) {
        guard connections.contains(where: { $0 === connection }) else { return }
        if let reason { broke(connection, reason: reason) }
        connections.removeAll { $0 === connection }
        if connection.opened != nil { tell(.closed(reason: reason)) }
        if isStopping { return finishStopping() }
        pump()
    }

    // MARK: Watching and ending

    private func tick() {
        let now = NIODeadline.now()
        for connection in connections { connection.tick(now) }
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

    /// Replaces all connections: the present ones take no more requests and end when theirs are settled. One that is being
    /// opened has not had a request and stays.
    func retireConnections() {
        for connection in connections where connection.state != .opening {
            connection.drain()
            connection.tick(.now())
        }
        pump()
    }

    /// Gives back what waits, lets what is on the wire settle, then closes.
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
        stopPromise?.succeed()
    }

    var status: HTTP2ClientStatus {
        let ready = connections.filter { $0.state == .ready }
        return HTTP2ClientStatus(
            connections: ready.count,
            streamsInFlight: connections.reduce(0) { $0 + $1.streamsInFlight },
            queued: pending.count,
            streamLimit: ready.reduce(0) { $0 + $1.limit }
        )
    }
}
