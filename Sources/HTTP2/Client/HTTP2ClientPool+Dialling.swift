import NIOCore
import NIOPosix
import NIOSSL

/// Opening connections.
extension HTTP2ClientPool {
    /// Starts an attempt for each missing connection that may be dialled now.
    func dialMissing() {
        guard !isStopping, !configuration.dialsLazily || pending.count > 0 else { return }
        let usable = connections.lazy.filter { $0.state == .ready || $0.state == .opening }
        let now = NIODeadline.now()
        let isCareful = pacing.isCareful(at: now)
        let proven = usable.count { connection in
            connection.isProved && (!isCareful || connection.opened.map { now - $0 >= pacing.minLife } ?? false)
        }
        let number = pacing.dials(
            wanted: sizing.size.target,
            proven: proven,
            unproven: usable.count - proven + dialing,
            at: now
        )
        guard number > 0 else { return }
        // The trust roots file may have been the problem.
        if pacing.isRecovering, let tls = configuration.tls, let context = try? Self.context(tls) {
            tlsContext = context
        }
        for _ in 0..<number { dial() }
    }

    private func dial() {
        dialing += 1
        let configuration = self.configuration
        let tlsContext = self.tlsContext
        let serverName = configuration.tls?.serverName ?? configuration.host
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(.milliseconds(configuration.connections.connectTimeoutMilliseconds))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.maxMessagesPerRead, value: 4)
            .channelOption(
                .recvAllocator,
                value: FixedSizeRecvByteBufferAllocator(capacity: Self.readPiece(configuration))
            )
            // The stream limit and HTTP/2's windows limit the output that waits.
            .channelOption(.writeBufferWaterMark, value: .init(low: 256 * 1_024, high: 1_024 * 1_024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let proxy = configuration.proxy {
                        let tunnel = Self.tunnel(proxy, configuration, tlsContext, serverName)
                        try channel.pipeline.syncOperations.addHandler(tunnel)
                    } else if let tlsContext {
                        try channel.pipeline.syncOperations.addHandler(Self.tlsHandler(tlsContext, serverName))
                    }
                    // One per channel: for a name with several addresses, several channels race each other.
                    let connection = try HTTP2ClientConnection(configuration: configuration, pool: self)
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
        let deadline = NIODeadline.now() + .milliseconds(configuration.connections.connectTimeoutMilliseconds)
        // The name is resolved again for each attempt, to follow a gateway that moves.
        Self.withUserTimeout(bootstrap, milliseconds: configuration.pingTimeoutMilliseconds * 2)
            .connect(
                host: configuration.proxy?.host ?? configuration.host,
                port: configuration.proxy?.port ?? configuration.port
            )
            .assumeIsolated()
            .whenComplete { result in self.dialed(result, deadline: deadline) }
    }

    /// The size of a read buffer, in bytes: about the size of the responses to all streams of a connection. Each
    /// connection keeps a few of these.
    private static func readPiece(_ configuration: HTTP2ClientConfiguration) -> Int {
        min(64 * 1_024, max(8 * 1_024, configuration.maxConcurrentStreams * 128))
    }

    private static func tlsHandler(_ context: NIOSSLContext, _ serverName: String) throws -> NIOSSLClientHandler {
        // SNI carries only names; for an address NIOSSL compares the certificate with the peer's address.
        let isAddress = (try? SocketAddress(ipAddress: serverName, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : serverName)
    }

    /// TLS starts once the proxy has opened the tunnel, and is with the server, not the proxy.
    private static func tunnel(
        _ proxy: HTTP2Proxy,
        _ configuration: HTTP2ClientConfiguration,
        _ context: NIOSSLContext?,
        _ serverName: String
    ) -> TunnelHandler {
        TunnelHandler(proxy: proxy, host: configuration.host, port: configuration.port) { pipeline, tunnel in
            guard let context else { return }
            try pipeline.addHandler(tlsHandler(context, serverName), position: .after(tunnel))
        }
    }

    private static func withUserTimeout(_ bootstrap: ClientBootstrap, milliseconds: Int64) -> ClientBootstrap {
        #if os(Linux)
        // TCP_USER_TIMEOUT (18 in linux/tcp.h): unacknowledged data ends the connection after this time, not after the
        // 15 minutes of tcp_retries2.
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
            guard connection.state != .closed, connection.state != .closing else {
                return dialFailed(
                    connection.closeReason ?? "the server ended the connection during the handshake"
                )
            }
            adopt(connection)
            guard connection.state == .opening else { return pump() }
            let bound = NIOLoopBound(connection, eventLoop: eventLoop)
            let timeout = configuration.connections.connectTimeoutMilliseconds
            eventLoop.scheduleTask(deadline: deadline) {
                guard bound.value.state == .opening else { return }
                let missing = bound.value.awaitsPing ? "the response to a PING" : "TLS and the server's SETTINGS"
                bound.value.close("\(missing) did not come within \(timeout) ms")
            }
        } catch {
            let reason = String(describing: error)
            dialFailed(configuration.proxy.map { "the proxy \($0) cannot be reached: \(reason)" } ?? reason)
        }
    }

    /// Adds a connection to those that get requests.
    func adopt(_ connection: HTTP2ClientConnection) {
        connections.append(connection)
    }

    /// An attempt failed; the next one waits.
    private func dialFailed(_ reason: String) {
        guard !isStopping else { return }
        wait(pacing.failed(at: .now(), using: &random), reason)
    }

    /// A connection is no longer usable, whichever side ended it. Its socket may stay open for long. The next attempt
    /// waits if necessary.
    ///
    /// Do not call it for ends that the server did not cause: a shutdown, fewer connections, a new token.
    func broke(_ connection: HTTP2ClientConnection, reason: String) {
        guard !isStopping, !connection.isCounted, connections.contains(where: { $0 === connection }) else { return }
        connection.isCounted = true
        let now = NIODeadline.now()
        let pause = pacing.broke(
            answered: connection.session.hasAnswered,
            lifetime: connection.opened.map { now - $0 },
            at: now,
            using: &random
        )
        wait(pause, reason)
    }

    private func wait(_ pause: DialPacing.Pause?, _ reason: String) {
        guard let pause else { return }
        if pause.attempt > 0 {
            tell(
                .dialFailed(reason: reason, attempt: pause.attempt, nextDelayMilliseconds: pause.milliseconds)
            )
        }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause.milliseconds)) { [weak self] in self?.pump() }
    }
}
