import HTTP2
import NIOCore
import NIOPosix

/// A client under test with its probe.
struct TestClient: Sendable {
    let probe = ClientProbe()
    let client: HTTP2Client

    /// Makes and starts a client; `change` sees the settings before.
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
            // What a test does not change must not happen by itself on a slow machine.
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
        configuration.connections.maximumBackOffMilliseconds = 500
        change(&configuration)
        client = HTTP2Client(
            configuration: configuration,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: probe
        )
        try await client.start()
    }

    var seen: ClientProbe.Seen { probe.seen.value }

    /// Does something on the client's event loop.
    func onLoop(_ work: @escaping @Sendable () -> Void) async throws {
        try await client.eventLoop.submit(work).get()
    }
}
