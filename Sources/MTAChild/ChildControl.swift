import ProcessProtocol
import Synchronization

/// Whether the child keeps running, and why not; the first reason wins.
final class ChildControl: Sendable {
    private struct State {
        var reason: ChildExitReason?
        var isShuttingDownFast = false
        var waiters: [EventSignal] = []
    }

    private let state = Mutex(State())

    var reason: ChildExitReason? { state.withLock { $0.reason } }
    var isDraining: Bool { reason != nil }
    var isShuttingDownFast: Bool { state.withLock { $0.isShuttingDownFast } }

    /// Stops claiming and resolves what is held.
    func drain(_ reason: ChildExitReason) {
        let waiters = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.waiters
        }
        for waiter in waiters { waiter.fire() }
    }

    /// Fires the signal when the child has to end.
    func wake(_ signal: EventSignal) { state.withLock { $0.waiters.append(signal) } }

    /// Gives back what is not on the wire.
    func fastShutdown(_ reason: ChildExitReason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
            state.isShuttingDownFast = true
        }
        drain(reason)
    }
}
