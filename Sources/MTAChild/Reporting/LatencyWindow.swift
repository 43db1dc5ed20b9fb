import Histogram

/// The gateway's latencies of the last seconds.
struct LatencyWindow: Sendable {
    /// Percentiles are of the last full window and what came since: fresh, and not jumpy.
    static let seconds: Int64 = 10
    /// An hour: no deadline is longer.
    private static let highest: UInt64 = 3_600_000_000

    private var current = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .two)
    private var last = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .two)

    mutating func record(_ microseconds: UInt32) {
        current.record(UInt64(microseconds))
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
