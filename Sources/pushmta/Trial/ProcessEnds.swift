import Synchronization

/// How the processes ended that this program started, by their ids.
final class ProcessEnds: Sendable {
    private enum State: Sendable {
        case running
        case ended(isOrderly: Bool, words: String)
    }

    /// How long after its end a process may be without a known exit status.
    private static let limit = Duration.seconds(5)
    private static let lookInterval = Duration.milliseconds(10)

    private let states = Mutex<[Int32: State]>([:])

    /// Nothing was started.
    init() {}

    /// A process was started; one before it with the same id is forgotten.
    func started(_ id: Int32) {
        states.withLock { $0[id] = .running }
    }

    /// A process has ended.
    ///
    /// - Parameter words: Its exit status or signal, for messages.
    func ended(_ id: Int32, isOrderly: Bool, words: String) {
        states.withLock { $0[id] = .ended(isOrderly: isOrderly, words: words) }
    }

    /// How a process that is gone has ended; its parent may still be about to take note of it.
    func end(of id: Int32) async throws -> ProcessStop {
        let deadline = ContinuousClock.now.advanced(by: Self.limit)
        while let state = states.withLock({ $0[id] }) {
            if case .ended(let isOrderly, let words) = state { return isOrderly ? .orderly : .failed(words) }
            guard ContinuousClock.now < deadline else { return .failed("no exit status") }
            try await Task.sleep(for: Self.lookInterval)
        }
        return .orderly
    }
}
