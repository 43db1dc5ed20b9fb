/// Work for which nobody waits longer than a given time.
enum Patience {
    /// What the work gives, or nil after the time or when the caller is cancelled.
    ///
    /// The work is cancelled then and not waited for: a statement that waits for a server out of reach ends with its connection,
    /// not with its cancellation.
    static func within<Value: Sendable>(
        _ time: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (results, mailbox) = AsyncStream<Result<Value, any Error>>.makeStream()
        let worker = Task {
            do {
                mailbox.yield(.success(try await work()))
            } catch {
                mailbox.yield(.failure(error))
            }
            mailbox.finish()
        }
        let alarm = Task {
            try? await Task.sleep(for: time)
            mailbox.finish()
        }
        defer {
            worker.cancel()
            alarm.cancel()
        }
        for await result in results { return try result.get() }
        return nil
    }
}
