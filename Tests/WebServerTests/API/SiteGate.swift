import Synchronization

/// Limits the number of sites that exist at once, however many tests run in parallel. Each site has several connections
/// to the database, which accepts two hundred, and all share the machine.
final class SiteGate: Sendable {
    /// For sites whose API is called.
    static let shared = SiteGate(3)
    /// For sites with their own database.
    static let sites = SiteGate(10)

    /// A place at the gate. It is freed when this object is released, however the test ends.
    final class Place: Sendable {
        private let gate: SiteGate

        fileprivate init(_ gate: SiteGate) {
            self.gate = gate
        }

        deinit {
            gate.leave()
        }
    }

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    private init(_ places: Int) {
        state = Mutex(State(free: places))
    }

    func enter() async -> Place {
        await withCheckedContinuation { continuation in
            let enters = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if enters { continuation.resume() }
        }
        return Place(self)
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
