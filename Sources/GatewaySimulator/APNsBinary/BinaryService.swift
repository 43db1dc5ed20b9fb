import Foundation
import NIOCore
import NIOSSL
import Synchronization
import X509

/// What the connections of the binary gateway share.
final class BinaryService: Sendable {
    private struct State {
        var plan: FaultPlan?
        var drops = 0
        var isRevoked = false
        var dice = FaultDice(seed: UInt64.random(in: 0...UInt64.max))
        /// When the stall ends; nil when there is none.
        var stallEnds: NIODeadline?
        /// Notifications that would have been taken since the plan was set.
        var acceptable = 0
        var connections: [Int: NIOLoopBound<BinaryServerConnection>] = [:]
        var lastConnection = 0
    }

    let recorder: GatewayRecorder
    let conditions: SharedConditions
    let certificates: ClientCertificateCheck
    let feedback = FeedbackBook()
    private let state = Mutex(State())

    init(recorder: GatewayRecorder, conditions: SharedConditions, certificates: ClientCertificateCheck) {
        self.recorder = recorder
        self.conditions = conditions
        self.certificates = certificates
        conditionsChanged()
    }

    /// When the present stall ends; nil when there is none.
    var stallEnds: NIODeadline? { state.withLock { $0.stallEnds } }

    /// Throws dice.
    func roll<Result: Sendable>(_ body: (inout FaultDice) -> Result) -> Result {
        state.withLock { body(&$0.dice) }
    }

    /// What the plan makes of a notification that would be taken; nil to take it.
    func injected(_ plan: FaultPlan) -> BinaryStatus? {
        state.withLock { state in
            state.acceptable += 1
            if let fault = plan.errorPackets, state.acceptable.isMultiple(of: fault.every) {
                return BinaryStatus(code: fault.status)
            }
            guard !plan.errors.isEmpty else { return nil }
            var draw = state.dice.unit()
            for error in plan.errors {
                draw -= error.rate
                if draw < 0 { return BinaryStatus(rawValue: error.reason) }
            }
            return nil
        }
    }

    /// Takes over conditions that were changed from outside, and makes every connection look at them.
    func conditionsChanged() {
        let current = conditions.current
        let (connections, areDropped) = state.withLock { state in
            if current.plan != state.plan {
                state.plan = current.plan
                state.acceptable = 0
                if let seed = current.plan.seed { state.dice = FaultDice(seed: seed) }
                state.stallEnds = Self.end(of: current.plan)
            }
            // A revoked certificate ends the connections that were made with it.
            let areDropped = current.drops != state.drops || (current.isRevoked && !state.isRevoked)
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

    private static func end(of plan: FaultPlan) -> NIODeadline? {
        if plan.stallsUntilCleared || plan.freezes { return .distantFuture }
        return plan.stallSeconds.map { NIODeadline.now() + .nanoseconds(Int64($0 * 1_000_000_000)) }
    }

    /// Counts a connection in and returns its number.
    func opened(_ connection: BinaryServerConnection, on eventLoop: any EventLoop) -> Int {
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

/// Checks the certificate that a client shows during the handshake: the binary gateway has no other moment to refuse it.
struct ClientCertificateCheck: Sendable {
    private let authority: Certificate
    private let isSandbox: Bool
    /// The gateway takes any topic, so a certificate need not name one.
    private let takesAnyTopic: Bool

    init(authority: Certificate, isSandbox: Bool, takesAnyTopic: Bool) {
        self.authority = authority
        self.isSandbox = isSandbox
        self.takesAnyTopic = takesAnyTopic
    }

    /// The topics of the certificate; nil when it is refused.
    func topics(_ certificates: [NIOSSLCertificate]) -> [String]? {
        guard let der = try? certificates.first?.toDERBytes(),
            case .success(let sender) = APNsSenderCertificate.judge(
                der,
                authority: authority,
                isSandbox: isSandbox,
                now: Date()
            )
        else { return nil }
        return sender.topics.isEmpty && takesAnyTopic ? ["*"] : sender.topics.sorted()
    }
}
