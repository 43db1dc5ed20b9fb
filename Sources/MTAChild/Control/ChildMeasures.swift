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

/// The gateway's latencies of the last seconds.
struct LatencyWindow: Sendable {
    /// The length of a window. Percentiles cover the last full window or the current one, so they are recent and
    /// steady.
    static let seconds: Int64 = 10
    /// One hour: no deadline is longer.
    private static let highest: UInt64 = 3_600_000_000

    /// The latencies of the process's whole life, for its metrics.
    private(set) var all = SecondsHistogram()
    private var current = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .two)
    private var last = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .two)

    mutating func record(_ microseconds: UInt32) {
        current.record(UInt64(microseconds))
        all.record(microseconds: microseconds)
    }

    /// Ends the window.
    mutating func turn() {
        swap(&current, &last)
        current.reset()
    }

    /// A percentile in milliseconds; 0 when there were no answers.
    func percentile(_ percent: Double) -> Double {
        let fuller = current.totalCount >= last.totalCount ? current : last
        return fuller.totalCount == 0 ? 0 : Double(fuller.valueAtPercentile(percent)) / 1_000
    }
}
