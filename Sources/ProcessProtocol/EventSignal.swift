import Synchronization

/// Tells one waiting task that something may have happened; an event nobody waited for is remembered, once.
public final class EventSignal: Sendable {
    private struct State {
        var isFired = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Makes a signal that has not fired.
    public init() {}

    /// Wakes the waiter, or the next one if nobody waits now.
    public func fire() {
        let waiter = state.withLock { state in
            state.isFired = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits for an event, whatever becomes of the task.
    public func wait() async {
        await withCheckedContinuation { continuation in
            if isOver(continuation, whenCancelled: false) { continuation.resume() }
        }
    }

    /// Waits for an event, at most so long; returns at once when the task is cancelled.
    public func wait(timeout: Duration) async {
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

    /// Takes a remembered event, or keeps who waits for the next one.
    private func isOver(_ waiter: CheckedContinuation<Void, Never>, whenCancelled: Bool) -> Bool {
        state.withLock { state in
            defer { state.isFired = false }
            if state.isFired || whenCancelled && Task.isCancelled { return true }
            state.waiter = waiter
            return false
        }
    }
}

/// Waits for something, but not longer than a time; then it goes on, cancelled, without anybody who waits.
public func withTimeout(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
    let done = EventSignal()
    let task = Task {
        await work()
        done.fire()
    }
    await done.wait(timeout: time)
    task.cancel()
}
