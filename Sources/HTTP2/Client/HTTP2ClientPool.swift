import NIOCore
import NIOSSL

/// The connections of a client and the requests that wait for them; everything here happens on the event loop.
final class HTTP2ClientPool {
    let configuration: HTTP2ClientConfiguration
    let eventLoop: any EventLoop
    private let delegate: any HTTP2ClientDelegate
    var tlsContext: NIOSSLContext?
    var connections: [HTTP2ClientConnection] = []
    var dialing = 0
    var backOff: DialBackOff
    var redialScheduled = false
    var pending = PendingRequests()
    var random = SystemRandomNumberGenerator()
    private var ticker: RepeatedTask?
    var isStopping = false
    private var isStopped = false
    private var stopPromise: EventLoopPromise<Void>?
    /// Set while the delegate is being told of completions: what it submits meanwhile waits for the end of the call.
    private var isDelivering = false
    /// The delegate submitted something while it was being told: it is spread over all connections.
    private var hasNewRequests = false
    private var pumpIsScheduled = false

    init(configuration: HTTP2ClientConfiguration, eventLoop: any EventLoop, delegate: any HTTP2ClientDelegate) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
        backOff = DialBackOff(
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

    private static func context(_ tls: HTTP2TLS) throws -> NIOSSLContext {
        var options = TLSConfiguration.makeClientConfiguration()
        options.applicationProtocols = ["h2"]
        options.minimumTLSVersion = .tlsv12
        if let file = tls.trustRootsFile { options.trustRoots = .file(file) }
        return try NIOSSLContext(configuration: options)
    }

    // MARK: Requests

    func submit(_ batch: HTTP2RequestBatch) {
        guard !isStopping else {
            // Later, as the delegate may be submitting from inside of `completed`.
            let bound = NIOLoopBound(self, eventLoop: eventLoop)
            eventLoop.execute {
                bound.value.completed((0..<Int32(batch.count)).map { Self.cancelled(batch, $0) })
            }
            return
        }
        pending.append(batch)
        if isDelivering { hasNewRequests = true } else { pump() }
    }

    /// Gives back all requests that wait for a stream.
    func cancelQueued() {
        var completions: [HTTP2Completion] = []
        while let (batch, index) = pending.next() {
            completions.append(Self.cancelled(batch, index))
        }
        guard !completions.isEmpty else { return }
        completed(completions)
        if hasNewRequests { pump() }
    }

    private static func cancelled(_ batch: HTTP2RequestBatch, _ index: Int32) -> HTTP2Completion {
        let result = HTTP2Result.unprocessed(HTTP2Failure(.cancelled))
        return HTTP2Completion(batch: batch, index: index, latencyMicroseconds: 0, result: result)
    }

    /// Spreads what waits over the connections that have room.
    func pump() {
        hasNewRequests = false
        let ready = connections.filter { $0.room > 0 }
        for (position, connection) in ready.enumerated() where pending.count > 0 {
            let share = (pending.count + ready.count - position - 1) / (ready.count - position)
            fill(connection, atMost: share)
            connection.send()
        }
        dialMissing()
    }

    /// Spreads what waits in a task of its own.
    func pumpSoon() {
        guard !pumpIsScheduled else { return }
        pumpIsScheduled = true
        eventLoop.assumeIsolated().execute {
            self.pumpIsScheduled = false
            self.pump()
        }
    }

    /// Gives a connection as many requests as it has room for; the caller sends.
    func refill(_ connection: HTTP2ClientConnection) {
        if hasNewRequests { pump() } else { fill(connection, atMost: .max) }
    }

    private func fill(_ connection: HTTP2ClientConnection, atMost share: Int) {
        var room = min(connection.room, share, pending.count)
        guard room > 0 else { return }
        connection.startSubmitting()
        while room > 0, let (batch, index) = pending.first {
            // The window is told of in a frame of the server's, which comes here again.
            guard connection.hasWindow(for: batch, index: index) else { return }
            guard connection.submit(batch, index: index) else { return dialMissing() }
            pending.removeFirst()
            room -= 1
        }
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

    /// A connection brought its first answer: the server is well, the next pause is the shortest again.
    func connectionProved() {
        backOff.reset()
    }

    func goAway(_ connection: HTTP2ClientConnection, _ event: HTTP2ConnectionEvent) {
        tell(event)
        if connection.wasGood {
            dialMissing()
        } else {
            // Refused before the first answer, as APNs does with a bad certificate: dialling at once would be a storm.
            redialLater(reason: "the server sent GOAWAY before it answered")
        }
    }

    func connectionClosed(_ connection: HTTP2ClientConnection, reason: String?) {
        let wasOpening = !connections.contains { $0 === connection }
        connections.removeAll { $0 === connection }
        if wasOpening { return }
        if connection.opened != nil { tell(.closed(reason: reason)) }
        if isStopping { return finishStopping() }
        if let reason, !connection.wasGood {
            // A connection that ends before its first answer is no better than one that was refused.
            redialLater(reason: reason)
        }
        pump()
    }

    // MARK: Watching and ending

    private func tick() {
        let now = NIODeadline.now()
        for connection in connections { connection.tick(now) }
        pump()
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
