import PostgresClient
import Store
import Synchronization

/// Work of which nobody waits longer than a time: it goes on by itself, and its end is still noticed.
///
/// A statement at a server that does not answer cannot be taken back: it may be committed or not.
final class Attempt<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Value, any Error>?, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Whether the work has ended.
    var isOver: Bool { state.withLock(\.isOver) }

    /// Starts the work and waits for its end, or for the time; nil if the time came first.
    func run(
        within limit: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error>? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            let timer = Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                self.take()?.resume(returning: nil)
            }
            Task {
                let result: Result<Value, any Error>
                do { result = .success(try await work()) } catch { result = .failure(error) }
                timer.cancel()
                let waiter = self.take(over: true)
                waiter?.resume(returning: result)
            }
        }
    }

    private func take(over: Bool = false) -> CheckedContinuation<Result<Value, any Error>?, Never>? {
        state.withLock { state in
            if over { state.isOver = true }
            defer { state.continuation = nil }
            return state.continuation
        }
    }
}

/// What to do about a failed transaction.
enum DatabaseTrouble: Sendable, Hashable {
    /// Somebody else changed the same rows: try again at once.
    case conflict
    /// Another transaction holds one of the rows, and may do so for long: the others can go on.
    case locked
    /// The database is away, shuts down or lacks resources: try again later.
    case away
    /// It refuses a value: trying again would be in vain.
    case value
    /// Something else is wrong, such as a right that is missing.
    case other

    init(_ error: any Error) {
        guard let error = error as? PostgresError else {
            self = .other
            return
        }
        let state = error.sqlState ?? ""
        if error.isLockTimeout {
            self = .locked
        } else if error.isUniqueViolation || ["40001", "40P01"].contains(state) {
            self = .conflict
        } else if error.isConnectionLost || error.isRetryable {
            self = .away
        } else if ["22", "23", "54"].contains(where: { state.hasPrefix($0) }) || error.code == .type {
            // Data exceptions, violated constraints, exceeded limits (an index entry that is too long).
            self = .value
        } else {
            self = .other
        }
    }
}
