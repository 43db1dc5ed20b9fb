import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A small HTTP/1.1 server: the token endpoint with TLS, the control port without.
struct HTTP1Listener: Sendable {
    let channel: any Channel

    /// Begins to listen.
    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext?,
        answer: @escaping @Sendable (HTTP1Request) -> HTTP1Answer
    ) async throws -> HTTP1Listener {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1Handler(answer))
                }
            }
            .bind(host: host, port: port).get()
        return HTTP1Listener(channel: channel)
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Stops listening. Connections that are open end with the event loops.
    func stop() async {
        try? await channel.close().get()
    }
}
