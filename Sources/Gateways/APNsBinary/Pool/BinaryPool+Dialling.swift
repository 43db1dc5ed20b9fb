import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import PushCore

/// How connections come about.
extension BinaryPool {
    /// Starts an attempt for each connection that is missing and may be dialled now.
    func dialMissing() {
        guard !isStopping, tlsContext != nil else { return }
        let usable = connections.lazy.filter { $0.state.phase == .ready || $0.state.phase == .opening }
        let proven = usable.count { $0.state.isProved }
        let number = pacing.dials(
            wanted: max(1, configuration.connections),
            proven: proven,
            unproven: usable.count - proven + dialing,
            at: .now()
        )
        guard number > 0 else { return }
        // What was wrong may have been a file of trusted certificates.
        if pacing.isRecovering, let context = try? configuration.tlsContext() { tlsContext = context }
        guard let tlsContext else { return }
        for _ in 0..<number { dial(tlsContext) }
    }

    private func dial(_ tlsContext: NIOSSLContext) {
        dialing += 1
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let (address, proxy) = (configuration.address, configuration.proxy)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(.milliseconds(configuration.connectTimeoutMilliseconds))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            // Enough that the system is never idle while the next piece is made, and no more: what waits here is in doubt when
            // the connection ends.
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1_024, high: 256 * 1_024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try BinaryTLS.add(to: channel, tlsContext, address, proxy: proxy)
                    try channel.pipeline.syncOperations.addHandler(BinaryConnection(pool: bound.value))
                }
            }
        let deadline = NIODeadline.now() + .milliseconds(configuration.connectTimeoutMilliseconds)
        // A name is resolved anew for each attempt, so that a gateway that moves is followed.
        BinaryTLS.withUserTimeout(bootstrap, milliseconds: configuration.requestTimeoutMilliseconds)
            .connect(host: proxy?.host ?? address.host, port: proxy?.port ?? address.port)
            .assumeIsolated()
            .whenComplete { result in self.dialed(result, deadline: deadline) }
    }

    private func dialed(_ result: Result<any Channel, any Error>, deadline: NIODeadline) {
        dialing -= 1
        do {
            let channel = try result.get()
            let connection = try channel.pipeline.syncOperations.handler(type: BinaryConnection.self)
            if isStopping { return connection.drain() }
            guard connection.state.phase == .opening || connection.state.phase == .ready else {
                return dialFailed(
                    connection.closeReason ?? "the gateway ended the connection during the handshake"
                )
            }
            connections.append(connection)
            guard connection.state.phase == .opening else { return pump() }
            let bound = NIOLoopBound(connection, eventLoop: eventLoop)
            let timeout = configuration.connectTimeoutMilliseconds
            eventLoop.scheduleTask(deadline: deadline) {
                if bound.value.state.phase == .opening { bound.value.close("TLS was not done within \(timeout) ms") }
            }
        } catch {
            let reason = String(describing: error)
            dialFailed(configuration.proxy.map { "the proxy \($0) cannot be reached: \(reason)" } ?? reason)
        }
    }

    /// An attempt failed: the next one waits.
    private func dialFailed(_ reason: String) {
        guard !isStopping else { return }
        wait(pacing.failed(at: .now(), using: &random), reason)
    }

    /// A connection is of no use any more, though its socket may stay open for long: what that costs.
    func broke(_ connection: BinaryConnection, reason: String) {
        guard !isStopping, !connection.isCounted, connections.contains(where: { $0 === connection }) else { return }
        connection.isCounted = true
        let now = NIODeadline.now()
        let pause = pacing.broke(
            answered: connection.state.isProved,
            lifetime: connection.opened.map { now - $0 },
            at: now,
            using: &random
        )
        wait(pause, reason)
    }

    private func wait(_ pause: DialPacing.Pause?, _ reason: String) {
        guard let pause else { return }
        if pause.attempt > 0 {
            tell(reports.certificateRefused(reason) ?? reports.dialFailed(reason, pause.attempt, pause.milliseconds))
        }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause.milliseconds)) { [weak self] in self?.pump() }
    }

    /// Ends the pause between attempts: somebody has put right what was wrong.
    func retryNow() {
        pacing.retryNow()
        pump()
    }
}
