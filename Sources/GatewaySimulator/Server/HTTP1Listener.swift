import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A small HTTP/1.1 server: the token endpoint with TLS, the control port without.
struct HTTP1Listener: Sendable {
    let socket: ListeningPort

    /// Begins to listen.
    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext?,
        answer: @escaping @Sendable (HTTP1Request) -> HTTP1Answer?
    ) async throws -> HTTP1Listener {
        HTTP1Listener(
            socket: try await ListeningPort.open(port) {
                bootstrap(group, tls, answer).bind(host: host, port: $0)
            }
        )
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup,
        _ tls: NIOSSLContext?,
        _ answer: @escaping @Sendable (HTTP1Request) -> HTTP1Answer?
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1Handler(answer))
                }
            }
    }

    var port: Int { socket.number }

    /// Stops listening. Connections that are open end with the event loops.
    func stop() async {
        await socket.stop()
    }
}
