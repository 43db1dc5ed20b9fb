import NIOCore
import Synchronization

/// A connection that follows its gateway's conditions; used only on its event loop.
protocol SimulatedConnection: AnyObject, SendableMetatype {
    /// Drops the connection without any protocol message.
    func abort()
    /// Closes the connection in an orderly way.
    func end()
    /// Applies the conditions to the open connection.
    func followConditions()
}

/// The connections of a gateway without HTTP/2, and what they share: the plan's random numbers and its stall.
final class ConnectionGroup<Connection: SimulatedConnection>: Sendable {
    private struct State {
        var plan: FaultPlan?
        var drops = 0
        var isRevoked = false
        var dice = FaultDice(seed: UInt64.random(in: 0...UInt64.max))
        /// When the stall ends; nil without a stall.
        var stallEnds: NIODeadline?
        /// The number of pushes that would have been accepted since the plan was set.
        var acceptable = 0
        var connections: [Int: NIOLoopBound<Connection>] = [:]
        var lastConnection = 0
    }

    private let recorder: GatewayRecorder
    private let conditions: SharedConditions
    private let isByCertificate: Bool
    private let stallsFrozen: Bool
    private let state = Mutex(State())

    /// A group without connections.
    ///
    /// - Parameters:
    ///   - isByCertificate: Whether revoking the credential ends the connections made with it.
    ///   - stallsFrozen: Whether a plan that freezes connections is an endless stall.
    init(recorder: GatewayRecorder, conditions: SharedConditions, isByCertificate: Bool, stallsFrozen: Bool) {
        self.recorder = recorder
        self.conditions = conditions
        self.isByCertificate = isByCertificate
        self.stallsFrozen = stallsFrozen
        conditionsChanged()
    }

    /// When the current stall ends; nil without a stall.
    var stallEnds: NIODeadline? { state.withLock { $0.stallEnds } }

    func roll<Result: Sendable>(_ body: (inout FaultDice) -> Result) -> Result {
        state.withLock { body(&$0.dice) }
    }

    /// Counts a push that would be accepted, and draws random numbers for it.
    ///
    /// - Parameter body: Receives the number of such pushes since the plan was set.
    func rollAcceptable<Result: Sendable>(_ body: (Int, inout FaultDice) -> Result) -> Result {
        state.withLock { state in
            state.acceptable += 1
            return body(state.acceptable, &state.dice)
        }
    }

    /// Applies conditions that were changed from outside, to every connection.
    func conditionsChanged() {
        let current = conditions.current
        let (connections, areDropped) = state.withLock { state in
            if current.plan != state.plan {
                state.plan = current.plan
                state.acceptable = 0
                if let seed = current.plan.seed { state.dice = FaultDice(seed: seed) }
                state.stallEnds = stallEnd(of: current.plan)
            }
            let isCutOff = isByCertificate && current.isRevoked && !state.isRevoked
            let areDropped = current.drops != state.drops || isCutOff
            state.drops = current.drops
            state.isRevoked = current.isRevoked
            return (Array(state.connections.values), areDropped)
        }
        for connection in connections {
            connection.eventLoop.execute {
                if areDropped { connection.value.abort() } else { connection.value.followConditions() }
            }
        }
    }

    private func stallEnd(of plan: FaultPlan) -> NIODeadline? {
        if plan.stallsUntilCleared || (stallsFrozen && plan.freezes) { return .distantFuture }
        return plan.stallSeconds.map { NIODeadline.now() + .nanoseconds(Int64($0 * 1_000_000_000)) }
    }

    /// Adds a connection and returns its number.
    func opened(_ connection: Connection, on eventLoop: any EventLoop) -> Int {
        let bound = NIOLoopBound(connection, eventLoop: eventLoop)
        recorder.connectionOpened()
        return state.withLock { state in
            state.lastConnection += 1
            state.connections[state.lastConnection] = bound
            return state.lastConnection
        }
    }

    func closed(_ number: Int) {
        state.withLock { $0.connections[number] = nil }
        recorder.connectionClosed()
    }

    func endAll() {
        for connection in state.withLock({ Array($0.connections.values) }) {
            connection.eventLoop.execute { connection.value.end() }
        }
    }
}
