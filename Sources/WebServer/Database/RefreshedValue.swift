import Synchronization

/// A cached value from the database, which is read again when a caller misses something in it.
///
/// The caller waits for a reading that begins after its request, because what it looks for may have just been created.
/// All callers of that time share one reading, with a pause between two. So lookups of names that do not exist cannot
/// overload the database.
final class RefreshedValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var isReading = false
        var waiters: [Waiter] = []
    }

    /// A caller that waits for a value.
    private struct Waiter {
        let continuation: CheckedContinuation<Bool, Never>
        /// How long it waits for an unreachable database.
        let timeout: ContinuousClock.Instant
    }

    private let state: Mutex<State>
    private let pause: Duration
    private let limit: Duration
    /// Reads the value; nil if the database is unreachable.
    private let read: @Sendable () async throws -> Value?
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - pause: the pause between two readings.
    ///   - limit: the maximum time of a reading.
    ///   - read: reads the value; nil if the database is unreachable.
    ///   - onFailure: called with the reason for a failed reading.
    init(
        _ value: Value,
        pause: Duration = .milliseconds(100),
        limit: Duration = .seconds(2),
        read: @escaping @Sendable () async throws -> Value?,
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        state = Mutex(State(value: value))
        self.pause = pause
        self.limit = limit
        self.read = read
        self.onFailure = onFailure
    }

    /// The value of the last reading.
    var current: Value { state.withLock(\.value) }

    /// Reads the value again; false if that is not possible.
    ///
    /// - Parameter timeout: how long to wait for an unreachable database; other failures return at once.
    func refresh(timeout: Duration = .zero) async -> Bool {
        let deadline = ContinuousClock.now + timeout
        return await withCheckedContinuation { continuation in
            let starts = state.withLock { state in
                state.waiters.append(Waiter(continuation: continuation, timeout: deadline))
                defer { state.isReading = true }
                return !state.isReading
            }
            if starts { Task { await readUntilNobodyWaits() } }
        }
    }

    private func readUntilNobodyWaits() async {
        while true {
            let waiters = state.withLock { state -> [Waiter] in
                defer { state.waiters = [] }
                if state.waiters.isEmpty { state.isReading = false }
                return state.waiters
            }
            guard !waiters.isEmpty else { return }
            let result = await Attempt<Value?>().run(within: limit, read)
            var succeeded = false
            var isAway = false
            switch result {
            case .success(nil), nil: isAway = true
            case .success(let value?):
                succeeded = true
                state.withLock { $0.value = value }
            case .failure(let error):
                isAway = DatabaseTrouble(error) == .away
                onFailure(error)
            }
            let now = ContinuousClock.now
            let patient = isAway ? waiters.filter { $0.timeout > now } : []
            if !patient.isEmpty { state.withLock { $0.waiters = patient + $0.waiters } }
            for waiter in waiters where !isAway || waiter.timeout <= now {
                waiter.continuation.resume(returning: succeeded)
            }
            try? await Task.sleep(for: pause)
        }
    }
}
