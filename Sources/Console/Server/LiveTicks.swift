import Synchronization

/// The clock of all live pages: one timer for any number of them, which runs only while there is one.
///
/// It also limits how long a reader may take to receive an event.
final class LiveTicks: Sendable {
    private struct State {
        var number = 0
        var isRunning = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var sending: [Int: (since: ContinuousClock.Instant, hangUp: @Sendable () -> Void)] = [:]
    }

    private let pause: Duration
    private let longest: Duration
    private let state = Mutex(State())

    /// Creates a clock.
    ///
    /// - Parameter longest: the maximum time for receiving an event. A live page gets one every 2 s at most; a reader
    ///   ten events behind has gone, or only holds memory.
    init(pause: Duration = NowFeed.pause, longest: Duration = .seconds(20)) {
        self.pause = pause
        self.longest = longest
    }

    /// Returns at the next tick, or at once when the task is canceled.
    func next() async {
        let number = number()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume() }
                state.withLock { $0.waiting[number] = continuation }
                run()
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Sends something. A reader that does not receive it in time loses its connection, which makes `send` fail.
    func sending(hangUp: @escaping @Sendable () -> Void, _ send: () async throws -> Void) async throws {
        let number = number()
        state.withLock { $0.sending[number] = (.now, hangUp) }
        defer { state.withLock { $0.sending[number] = nil } }
        run()
        try await send()
    }

    private func number() -> Int {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    private func run() {
        let starts = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        Task { [self] in
            repeat { try? await Task.sleep(for: pause) } while tick()
        }
    }

    /// Wakes all waiting tasks and closes connections that are too slow; false if no page is left.
    private func tick() -> Bool {
        let now = ContinuousClock.now
        let (waiting, late, goesOn) = state.withLock { state in
            let late = state.sending.filter { $0.value.since + longest <= now }
            for number in late.keys { state.sending[number] = nil }
            let waiting = state.waiting.values
            state.waiting = [:]
            state.isRunning = !waiting.isEmpty || !state.sending.isEmpty
            return (Array(waiting), late.values.map(\.hangUp), state.isRunning)
        }
        for hangUp in late { hangUp() }
        for continuation in waiting { continuation.resume() }
        return goesOn
    }
}
