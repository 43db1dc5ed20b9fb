import Histogram
import ProcessProtocol

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
