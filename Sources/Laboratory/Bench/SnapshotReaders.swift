import Administration
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// Readers that hold an old snapshot of the database open during a measurement, as reports and backups do. Rows that
/// die meanwhile cannot be vacuumed.
struct SnapshotReaders: Sendable {
    /// The interval between reads of one reader.
    private static let interval = Duration.milliseconds(250)

    /// The number of readers; each has its own connection.
    let count: Int
    /// The settings with the database's connection string.
    let settings: Settings

    /// Runs `body` after all readers have taken their snapshots, and then ends the readers.
    ///
    /// - Returns: The result of the body, and the total number of reads meanwhile.
    /// - Throws: What the body throws, or the error that ended a reader early.
    func during<Result>(_ body: () async throws -> Result) async throws -> (result: Result, reads: Int64) {
        let (opened, opening) = AsyncThrowingStream<Void, any Error>.makeStream()
        let readers = (0..<count).map { _ in
            Task {
                do {
                    return try await read { opening.yield() }
                } catch {
                    opening.finish(throwing: error)
                    throw error
                }
            }
        }
        defer { for reader in readers { reader.cancel() } }
        var missing = count
        var iterator = opened.makeAsyncIterator()
        while missing > 0 {
            try await iterator.next()
            try Task.checkCancellation()
            missing -= 1
        }
        let result = try await body()
        for reader in readers { reader.cancel() }
        var reads: Int64 = 0
        for reader in readers { reads += try await reader.value }
        return (result, reads)
    }

    /// Runs one reader until its task is cancelled. A statement that the cancellation interrupts is not an error.
    private func read(_ opened: @Sendable () -> Void) async throws -> Int64 {
        let reads = Mutex<Int64>(0)
        do {
            try await StoreSession.run(settings, role: "reader") { store in
                try await store.holdSnapshot { snapshot in
                    opened()
                    while !Task.isCancelled {
                        _ = try await snapshot.read()
                        reads.withLock { $0 += 1 }
                        try await Task.sleep(for: Self.interval)
                    }
                }
            }
        } catch {
            guard Task.isCancelled else { throw error }
        }
        return reads.withLock { $0 }
    }
}
