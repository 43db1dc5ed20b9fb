import NIOCore
import NIOPosix
import NIOSSL

/// The connections of a client and the requests that wait for them; everything here happens on the event loop.
final class HTTP2ClientPool {
    private let configuration: HTTP2ClientConfiguration
    private let eventLoop: any EventLoop
    private let delegate: any HTTP2ClientDelegate
    private var tlsContext: NIOSSLContext?
    private var connections: [HTTP2ClientConnection] = []
    private var dialing = 0
    private var backOff: DialBackOff
    private var redialScheduled = false
    private var pending = PendingRequests()
    private var random = SystemRandomNumberGenerator()
    private var ticker: RepeatedTask?
    private var isStopping = false
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
    private func pump() {
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
        while room > 0, let (batch, index) = pending.next() {
            guard connection.submit(batch, index: index) else {
                pending.putBack(batch, index: index)
                dialMissing()
                return
            }
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
    private func tell(_ event: HTTP2ConnectionEvent) {
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

    // MARK: Dialling

    /// Starts an attempt for each connection that is missing, unless a pause is running.
    private func dialMissing() {
        guard !isStopping, !redialScheduled, !configuration.dialsLazily || pending.count > 0 else { return }
        let usable = connections.lazy.filter { $0.state == .ready || $0.state == .opening }.count
        for _ in 0..<max(0, configuration.connections - usable - dialing) {
            dial()
        }
    }

    private func dial() {
        dialing += 1
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let configuration = self.configuration
        let tlsContext = self.tlsContext
        let serverName = configuration.tls?.serverName ?? configuration.host
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(.milliseconds(configuration.connectTimeoutMilliseconds))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.maxMessagesPerRead, value: 4)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 * 1_024))
            // What waits to be written is bounded by the stream limit and HTTP/2's own windows.
            .channelOption(.writeBufferWaterMark, value: .init(low: 256 * 1_024, high: 1_024 * 1_024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tlsContext {
                        try channel.pipeline.syncOperations.addHandler(Self.tlsHandler(tlsContext, serverName))
                    }
                    // One for each channel: a name with several addresses has several channels race each other.
                    let connection = try HTTP2ClientConnection(configuration: configuration, pool: bound.value)
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
        let deadline = NIODeadline.now() + .milliseconds(configuration.connectTimeoutMilliseconds)
        // A name is resolved anew for each attempt, so that a gateway that moves is followed.
        Self.withUserTimeout(bootstrap, milliseconds: configuration.pingTimeoutMilliseconds * 2)
            .connect(host: configuration.host, port: configuration.port)
            .assumeIsolated()
            .whenComplete { result in self.dialed(result, deadline: deadline) }
    }

    private static func tlsHandler(_ context: NIOSSLContext, _ serverName: String) throws -> NIOSSLClientHandler {
        // SNI carries names only; for an address NIOSSL compares the certificate with the peer's address.
        let isAddress = (try? SocketAddress(ipAddress: serverName, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : serverName)
    }

    private static func withUserTimeout(_ bootstrap: ClientBootstrap, milliseconds: Int64) -> ClientBootstrap {
        #if os(Linux)
        // TCP_USER_TIMEOUT (18 in linux/tcp.h): unacknowledged data ends the connection, not 15 minutes of tcp_retries2.
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
        return bootstrap.channelOption(option, value: .init(milliseconds))
        #else
        return bootstrap
        #endif
    }

    private func dialed(_ result: Result<any Channel, any Error>, deadline: NIODeadline) {
        dialing -= 1
        do {
            let channel = try result.get()
            let connection = try channel.pipeline.syncOperations.handler(type: HTTP2ClientConnection.self)
            if isStopping { return connection.close(nil) }
            guard connection.state != .closed else {
                return redialLater(
                    reason: connection.closeReason ?? "the server ended the connection during the handshake"
                )
            }
            adopt(connection)
            guard connection.state == .opening else { return pump() }
            let bound = NIOLoopBound(connection, eventLoop: eventLoop)
            let timeout = configuration.connectTimeoutMilliseconds
            eventLoop.scheduleTask(deadline: deadline) {
                if bound.value.state == .opening {
                    bound.value.close("TLS and the server's SETTINGS did not come within \(timeout) ms")
                }
            }
        } catch {
            redialLater(reason: String(describing: error))
        }
    }

    /// Takes a connection among those that get requests.
    func adopt(_ connection: HTTP2ClientConnection) {
        connections.append(connection)
    }

    private func redialLater(reason: String) {
        guard !isStopping, !redialScheduled else { return }
        redialScheduled = true
        let delay = backOff.next(using: &random)
        tell(.dialFailed(reason: reason, attempt: backOff.attempt, nextDelayMilliseconds: delay))
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) { [weak self] in
            guard let self else { return }
            self.redialScheduled = false
            self.pump()
        }
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

    private func finishStopping() {
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
