import UnixSignals

/// Runs work that a person may end with Ctrl-C.
enum UntilSignal {
    /// Runs `work`; SIGINT, SIGTERM or SIGHUP cancels it, and it may still clean up and return.
    ///
    /// - Returns: What the work returned; `nil` if a signal ended it before it had a result.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result? {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let task = Task { try await work() }
        let watcher = Task {
            for await _ in signals {
                task.cancel()
                return
            }
        }
        defer { watcher.cancel() }
        do {
            return try await task.value
        } catch {
            if task.isCancelled { return nil }
            throw error
        }
    }
}
