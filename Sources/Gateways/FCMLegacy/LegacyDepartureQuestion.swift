import Dispatch
import NIOCore
import Synchronization

/// A question that libcurl's thread puts to the gateway's event loop, and waits for: may this request leave?
final class LegacyDepartureQuestion: Sendable {
    private enum State {
        case open
        case beingDecided
        case decided(Bool)
        case abandoned
    }

    /// An event loop that is silent for so long has ended, or might as well have: its lease runs out long before.
    private static let patience = DispatchTimeInterval.seconds(60)

    private let state = Mutex(State.open)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Asks; not to be called on the event loop.
    static func ask(on eventLoop: any EventLoop, _ decide: @escaping @Sendable () -> Bool) -> Bool {
        let question = LegacyDepartureQuestion()
        eventLoop.execute { question.answer(decide) }
        return question.wait()
    }

    private func answer(_ decide: () -> Bool) {
        let isAwaited = state.withLock { state in
            guard case .open = state else { return false }
            state = .beingDecided
            return true
        }
        // Nobody waits any more, so the request does not leave.
        guard isAwaited else { return }
        let decision = decide()
        state.withLock { $0 = .decided(decision) }
        semaphore.signal()
    }

    private func wait() -> Bool {
        if semaphore.wait(timeout: .now() + Self.patience) == .timedOut {
            let isBeingDecided = state.withLock { state in
                if case .open = state {
                    state = .abandoned
                    return false
                }
                return true
            }
            guard isBeingDecided else { return false }
            semaphore.wait()
        }
        return state.withLock { state in
            if case .decided(let decision) = state { return decision }
            return false
        }
    }
}
