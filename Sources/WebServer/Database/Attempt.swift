import Synchronization

/// Work with a time limit for its caller. After the limit the work continues, and its end is still noted.
///
/// A statement at a server that does not answer cannot be revoked: it may or may not be committed.
final class Attempt<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Value, any Error>?, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Whether the work has ended.
    var isOver: Bool { state.withLock(\.isOver) }

    /// Starts the work and waits for its end, or for the limit; nil if the limit came first.
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
