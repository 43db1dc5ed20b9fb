import NIOCore
import NIOPosix
import Synchronization

/// Free ports for servers that cannot choose one themselves.
enum FreePort {
    private static let given = Mutex<Set<Int>>([])

    /// A port that was free a moment ago. This process never gets the same port twice.
    static func any() async throws -> Int {
        while true {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = channel.localAddress?.port ?? 0
            try await channel.close()
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
    }

    /// Waits until something listens on a port of this machine.
    static func untilOpen(_ port: Int) async throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(10))
        while true {
            do {
                return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get().close().get()
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
