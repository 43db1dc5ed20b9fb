import HTTP2
import NIOCore
import NIOPosix

/// A client under test with its probe.
struct TestClient: Sendable {
    let probe = ClientProbe()
    let client: HTTP2ClientPool

    /// Makes and starts a client; `change` can adjust the settings first.
    init(
        port: Int,
        tls: Bool = false,
        connections: Int = 1,
        initialLimit: Int = 100,
        host: String = "127.0.0.1",
        change: (inout HTTP2ClientConfiguration) -> Void = { _ in }
    ) async throws {
        var configuration = HTTP2ClientConfiguration(
            host: host,
            port: port,
            // Defaults must not trigger anything on a slow machine unless a test changes them.
            connections: ConnectionOptions(
                count: connections,
                requestTimeoutMilliseconds: 300_000,
                connectTimeoutMilliseconds: 120_000
            ),
            tls: tls ? HTTP2TLS(trustRootsFile: try TestCertificate.shared.get().certificateFile) : nil,
            initialMaxConcurrentStreams: initialLimit
        )
        configuration.pingAfterSilenceMilliseconds = 300_000
        configuration.connections.firstBackOffMilliseconds = 20
        configuration.connections.maxBackOffMilliseconds = 500
        change(&configuration)
        client = HTTP2ClientPool(
            configuration: configuration,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: probe
        )
        try await client.start()
    }

    var seen: ClientProbe.Seen { probe.seen.value }

    /// Runs an action on the client's event loop.
    func onLoop(_ work: @escaping @Sendable () -> Void) async throws {
        try await client.eventLoop.submit(work).get()
    }
}
