import Synchronization

/// Lets one waiter sleep for a time or until it is rung, whichever comes first; a ring nobody waited for is remembered.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Wakes the waiter, or the next one if nobody waits now.
    func ring() {
        let waiter = state.withLock { state in
            state.isRung = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits until the bell rings, at most so long; returns at once when the task is cancelled.
    func wait(atMost time: Duration) async {
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask { await self.rung() }
            await group.next()
            group.cancelAll()
        }
    }

    private func rung() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesAtOnce = state.withLock { state in
                    defer { state.isRung = false }
                    if state.isRung || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if resumesAtOnce { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
