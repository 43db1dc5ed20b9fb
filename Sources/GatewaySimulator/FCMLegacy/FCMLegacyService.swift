import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// What the connections of the legacy gateway share.
final class FCMLegacyService: Sendable {
    private struct State {
        var version = 0
        var plan: FaultPlan?
        var drops = 0
        var dice = FaultDice(seed: UInt64.random(in: 0...UInt64.max))
        /// When the stall ends; nil when there is none.
        var stallEnds: NIODeadline?
        var connections: [Int: NIOLoopBound<FCMLegacyConnection>] = [:]
        var lastConnection = 0
    }

    let rules: FCMLegacyRules
    let answers = FCMLegacyAnswers()
    let recorder: GatewayRecorder
    let conditions: SharedConditions
    private let state = Mutex(State())

    init(rules: FCMLegacyRules, recorder: GatewayRecorder, conditions: SharedConditions) {
        self.rules = rules
        self.recorder = recorder
        self.conditions = conditions
        conditionsChanged()
    }

    /// When the present stall ends; nil when there is none.
    var stallEnds: NIODeadline? { state.withLock { $0.stallEnds } }

    /// Throws dice.
    func roll<Result: Sendable>(_ body: (inout FaultDice) -> Result) -> Result {
        state.withLock { body(&$0.dice) }
    }

    /// Takes over conditions that were changed from outside, and makes every connection look at them.
    func conditionsChanged() {
        let current = conditions.current
        let (connections, areDropped) = state.withLock { state in
            if current.plan != state.plan {
                state.plan = current.plan
                if let seed = current.plan.seed { state.dice = FaultDice(seed: seed) }
                state.stallEnds = Self.end(of: current.plan)
            }
            defer { state.drops = current.drops }
            return (Array(state.connections.values), current.drops != state.drops)
        }
        for connection in connections {
            connection.eventLoop.execute {
                if areDropped { connection.value.abort() } else { connection.value.followConditions() }
            }
        }
    }

    private static func end(of plan: FaultPlan) -> NIODeadline? {
        if plan.stallsUntilCleared { return .distantFuture }
        return plan.stallSeconds.map { NIODeadline.now() + .nanoseconds(Int64($0 * 1_000_000_000)) }
    }

    /// Counts a connection in and returns its number.
    func opened(_ connection: FCMLegacyConnection, on eventLoop: any EventLoop) -> Int {
        let bound = NIOLoopBound(connection, eventLoop: eventLoop)
        recorder.connectionOpened()
        return state.withLock { state in
            state.lastConnection += 1
            state.connections[state.lastConnection] = bound
            return state.lastConnection
        }
    }

    /// Counts a connection out.
    func closed(_ number: Int) {
        state.withLock { $0.connections[number] = nil }
        recorder.connectionClosed()
    }

    /// Ends every connection.
    func endConnections() {
        for connection in state.withLock({ Array($0.connections.values) }) {
            connection.eventLoop.execute { connection.value.end() }
        }
    }
}

/// The listening socket of the legacy gateway.
struct FCMLegacyListener: Sendable {
    private let channel: any Channel
    private let service: FCMLegacyService

    /// Begins to listen.
    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        tls: NIOSSLContext,
        service: FCMLegacyService
    ) async throws -> FCMLegacyListener {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(FCMLegacyConnection(service: service))
                }
            }
            .bind(host: host, port: port).get()
        return FCMLegacyListener(channel: channel, service: service)
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Stops listening and ends every connection.
    func stop() async {
        try? await channel.close().get()
        service.endConnections()
    }
}
