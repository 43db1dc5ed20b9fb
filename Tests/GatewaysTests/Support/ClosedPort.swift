import NIOCore
import NIOPosix
import Testing

/// A port of 127.0.0.1 that nobody listens on.
enum ClosedPort {
    static func find() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        return port
    }
}
