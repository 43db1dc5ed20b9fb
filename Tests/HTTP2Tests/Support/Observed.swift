import Synchronization

/// A value that other code changes and that a test waits for.
final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let isMet: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value, any Error>
        let deadline: Task<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes the waiters whose condition is now met.
    func update(_ change: (inout Value) -> Void) {
        let (value, woken) = state.withLock { state in
            change(&state.value)
            let met = state.waiters.filter { $0.value.isMet(state.value) }
            for id in met.keys { state.waiters[id] = nil }
            return (state.value, met.values.map { $0 })
        }
        for waiter in woken {
            waiter.deadline.cancel()
            waiter.continuation.resume(returning: value)
        }
    }

    /// Waits until the value meets a condition.
    /// - Parameter seconds: the time limit of the wait; generous, as slow machines also run these tests.
    /// - Throws: ``NotSeen`` with the value at that time.
    @discardableResult
    func wait(
        for what: String,
        seconds: Int = 120,
        until isMet: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let already: Value? = state.withLock { state in
                if isMet(state.value) { return state.value }
                let id = state.nextID
                state.nextID += 1
                let deadline = Task { [self] in
                    guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                    expire(id, what)
                }
                state.waiters[id] = Waiter(isMet: isMet, continuation: continuation, deadline: deadline)
                return nil
            }
            if let already { continuation.resume(returning: already) }
        }
    }

    private func expire(_ id: Int, _ what: String) {
        let (value, waiter) = state.withLock { ($0.value, $0.waiters.removeValue(forKey: id)) }
        waiter?.continuation.resume(
            throwing: NotSeen(what: what, last: String(String(describing: value).prefix(2_000)))
        )
    }
}

/// A condition that was not met before the deadline.
struct NotSeen: Error, CustomStringConvertible {
    var what: String
    var last: String
    var description: String { "waited in vain for \(what); the last state was \(last)" }
}
