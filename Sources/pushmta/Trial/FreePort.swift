import NIOCore
import NIOPosix

/// Ports for servers that do not choose one by themselves.
enum FreePort {
    /// A port of this machine that was free a moment ago.
    static func any() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }
}
