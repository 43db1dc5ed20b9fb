import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import PushCore

/// How connections come about.
extension BinaryPool {
    /// Starts an attempt for each connection that is missing, unless a pause is running.
    func dialMissing() {
        guard !isStopping, !redialScheduled, let tlsContext else { return }
        let usable = connections.lazy.filter { $0.state.phase == .ready || $0.state.phase == .opening }.count
        for _ in 0..<max(0, max(1, configuration.connections) - usable - dialing) { dial(tlsContext) }
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
            guard connection.state.phase != .closed else {
                return redialLater(
                    reason: connection.closeReason ?? "the gateway ended the connection during the handshake"
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
            redialLater(reason: configuration.proxy.map { "the proxy \($0) cannot be reached: \(reason)" } ?? reason)
        }
    }

    func redialLater(reason: String) {
        guard !isStopping, !redialScheduled else { return }
        redialScheduled = true
        let pause = backOff.next()
        let milliseconds = Int64(pause / .milliseconds(1))
        tell(reports.certificateRefused(reason) ?? reports.dialFailed(reason, backOff.failures, milliseconds))
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            self.redialScheduled = false
            self.pump()
        }
    }
}
