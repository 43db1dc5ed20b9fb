import Synchronization

/// When outcomes that gather are stored though their batch is not full: one timer runs at a time.
struct FlushSchedule: ~Copyable, Sendable {
    /// So long outcomes gather.
    let delay: Duration
    private let isRunning = Mutex(false)

    init(delay: Duration) {
        self.delay = delay
    }

    /// Whether the timer has to be started, as none runs.
    borrowing func begin() -> Bool {
        isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
    }

    /// The timer has come to its end.
    borrowing func end() {
        isRunning.withLock { $0 = false }
    }
}
