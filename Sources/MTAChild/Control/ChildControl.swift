import ProcessProtocol
import Synchronization

/// Whether the child goes on, and why not; the first reason stands.
final class ChildControl: Sendable {
    private struct State {
        var reason: ChildExitReason?
        var isHurrying = false
    }

    private let state = Mutex(State())

    var reason: ChildExitReason? { state.withLock { $0.reason } }
    var isDraining: Bool { reason != nil }
    var isHurrying: Bool { state.withLock { $0.isHurrying } }

    /// Claims no more parts and settles what is held.
    func drain(_ reason: ChildExitReason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
        }
    }

    /// Gives back what is not on the wire.
    func hurry(_ reason: ChildExitReason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
            state.isHurrying = true
        }
    }
}
