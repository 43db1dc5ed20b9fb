import Synchronization

/// Signals one waiting task that something may have happened. An event without a waiter is remembered once.
package final class EventSignal: Sendable {
    private struct State {
        var isFired = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Wakes the waiter; without one, the next wait returns at once.
    package func fire() {
        let waiter = state.withLock { state in
            state.isFired = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits for an event; cancellation does not end the wait.
    package func wait() async {
        await withCheckedContinuation { continuation in
            if isOver(continuation, whenCancelled: false) { continuation.resume() }
        }
    }

    /// Waits for an event, at most for the timeout; returns at once when the task is cancelled.
    package func wait(timeout: Duration) async {
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: timeout) }
            group.addTask { await self.waitUnlessCancelled() }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitUnlessCancelled() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isOver(continuation, whenCancelled: true) { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }

    /// Takes a remembered event, or stores the waiter for the next one.
    private func isOver(_ waiter: CheckedContinuation<Void, Never>, whenCancelled: Bool) -> Bool {
        state.withLock { state in
            defer { state.isFired = false }
            if state.isFired || whenCancelled && Task.isCancelled { return true }
            state.waiter = waiter
            return false
        }
    }
}

/// Waits for work, but at most for a time. After that, the work is cancelled and not awaited.
package func withTimeout(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
    let done = EventSignal()
    let task = Task {
        await work()
        done.fire()
    }
    await done.wait(timeout: time)
    task.cancel()
}
