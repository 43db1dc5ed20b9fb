import UnixSignals

/// Runs work that the user may end with Ctrl-C.
package enum UntilSignal {
    /// Runs `work`. SIGINT, SIGTERM or SIGHUP cancels it; it may still clean up and return.
    ///
    /// - Returns: The result of the work; `nil` if a signal ended it before it had one.
    package static func run<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws
        -> Result?
    {
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
