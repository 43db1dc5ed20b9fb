import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The listening socket of the legacy gateway.
struct FCMLegacyListener: Sendable {
    private let channel: any Channel
    private let service: FCMLegacyService

    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext,
        service: FCMLegacyService
    ) async throws -> FCMLegacyListener {
        let channel = try await ListeningPort.bootstrap(group) { channel in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: tls))
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(FCMLegacyConnection(service: service))
        }
        .bind(host: host, port: port).get()
        return FCMLegacyListener(channel: channel, service: service)
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Stops listening and closes every connection.
    func stop() async {
        try? await channel.close().get()
        service.connections.endAll()
    }
}
