import NIOCore
import NIOPosix
import TestSupport

/// A port of 127.0.0.1 that nothing listens on.
package enum ClosedPort {
    package static func find() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let port = channel.localAddress?.port
        try await channel.close()
        guard let port else { throw TestSupportError("a listener has no port") }
        return port
    }
}
