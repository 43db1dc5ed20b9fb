import Histogram
import ProcessProtocol
import Synchronization

/// The times that a child measures, for its row in `mta_child` and for metrics.
final class ChildMeasures: Sendable {
    /// From writing a message to its answer.
    let latencies = Mutex(LatencyWindow())
    /// From a single message's due time to its answer.
    let waits = Mutex(SecondsHistogram())
    /// How long database operations take.
    let database = Mutex(DatabaseTimes())

    /// Measures a database operation that succeeds. A failed one is retried, and its time shows only how long others
    /// delayed it.
    func time<Value: Sendable>(
        _ kind: any WritableKeyPath<DatabaseTimes, SecondsHistogram> & Sendable,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        let start = ContinuousClock.now
        let value = try await work()
        let time = ContinuousClock.now - start
        database.withLock { $0[keyPath: kind].record(time) }
        return value
    }
}
