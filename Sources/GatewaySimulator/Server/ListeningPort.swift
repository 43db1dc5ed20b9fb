import NIOCore
import NIOPosix
import Synchronization

/// A listening socket that can be closed, so that connections are refused, and reopened on the same port.
final class ListeningPort: Sendable {
    private enum Step {
        case close(any Channel)
        case open
    }

    private struct State: Sendable {
        var channel: (any Channel)?
        var isWanted = true
        /// Whether a step is running. A change that arrives meanwhile follows it.
        var isBusy = false
    }

    /// The delay before the next try if another process temporarily holds the port.
    private static var retryTime: TimeAmount { .milliseconds(100) }

    /// The port number, which stays the same while the port is closed.
    let number: Int
    private let bind: @Sendable (Int) -> EventLoopFuture<any Channel>
    private let state: Mutex<State>

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - port: The port; 0 chooses a free one.
    ///   - bind: Makes the listening channel for a port.
    static func open(
        _ port: Int,
        bind: @escaping @Sendable (Int) -> EventLoopFuture<any Channel>
    ) async throws -> ListeningPort {
        ListeningPort(try await bind(port).get(), bind)
    }

    private init(_ channel: any Channel, _ bind: @escaping @Sendable (Int) -> EventLoopFuture<any Channel>) {
        number = channel.localAddress?.port ?? 0
        self.bind = bind
        state = Mutex(State(channel: channel))
    }

    /// The common configuration of all listening sockets. The function makes a connection's pipeline.
    static func bootstrap(
        _ group: MultiThreadedEventLoopGroup,
        _ initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try initialize(channel) }
            }
    }

    /// Opens or closes the port asynchronously.
    func setOpen(_ isOpen: Bool) {
        state.withLock { $0.isWanted = isOpen }
        follow()
    }

    /// Closes the port permanently.
    func stop() async {
        let channel = state.withLock { state in
            state.isWanted = false
            defer { state.channel = nil }
            return state.channel
        }
        try? await channel?.close().get()
    }

    private func follow() {
        let step = state.withLock { state -> Step? in
            guard !state.isBusy, state.isWanted != (state.channel != nil) else { return nil }
            state.isBusy = true
            defer { state.channel = nil }
            return state.channel.map { .close($0) } ?? .open
        }
        switch step {
        case nil: break
        case .close(let channel): channel.close().whenComplete { _ in self.done(nil) }
        case .open:
            let future = bind(number)
            future.whenComplete { result in
                if case .success(let channel) = result { return self.done(channel) }
                future.eventLoop.scheduleTask(in: Self.retryTime) { self.done(nil) }
            }
        }
    }

    private func done(_ channel: (any Channel)?) {
        state.withLock { state in
            state.channel = channel
            state.isBusy = false
        }
        follow()
    }
}
