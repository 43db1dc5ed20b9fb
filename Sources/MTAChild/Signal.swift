import Synchronization

/// Wakes one waiting task; firing while nobody waits is remembered once.
final class Signal: Sendable {
    private struct State {
        var isFired = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func fire() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter else {
                state.isFired = true
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Returns when the signal is fired, or was since the last wait.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isFired = state.withLock { state in
                if state.isFired {
                    state.isFired = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if isFired { continuation.resume() }
        }
    }

    /// Returns when the signal is fired, or after a time.
    func wait(atMost time: Duration) async {
        let timer = Task {
            if (try? await Task.sleep(for: time)) != nil { fire() }
        }
        await wait()
        timer.cancel()
    }
}
