/// Counts durations in buckets whose bounds double, so that counting takes two instructions and no search.
package struct SecondsHistogram: Sendable, Codable, Equatable {
    /// The first bucket ends at 0.512 ms, and the last but one at 33.6 s, above every default timeout.
    private static let firstBits = 9
    /// The number of buckets; the last one takes durations above all bounds.
    package static let buckets = 18

    /// Upper bounds of the buckets in seconds; the last bucket has none.
    package static let bounds: [Double] = (0..<buckets - 1).map { Double(1 << (firstBits + $0)) / 1e6 }

    /// The number of durations in each bucket.
    package private(set) var counts: [Int64]
    /// The sum of all durations in microseconds.
    package private(set) var microseconds: Int64

    package init() {
        counts = [Int64](repeating: 0, count: Self.buckets)
        microseconds = 0
    }

    /// The sum of all durations in seconds.
    package var seconds: Double { Double(microseconds) / 1e6 }

    /// The number of durations counted.
    package var total: Int64 { counts.reduce(0, &+) }

    package mutating func record(microseconds duration: UInt32) {
        microseconds &+= Int64(duration)
        // The number of bits of the duration minus one: a duration equal to a bound belongs to the bucket that ends
        // there.
        let bits = UInt32.bitWidth - (max(1, duration) - 1).leadingZeroBitCount
        counts[min(max(0, bits - Self.firstBits), Self.buckets - 1)] &+= 1
    }

    package mutating func record(_ duration: Duration) {
        record(microseconds: UInt32(clamping: Int64(max(0, duration / .microseconds(1)))))
    }

    /// Adds the increase from `before` to `now`. A histogram with another number of buckets, from a child of another
    /// version, adds nothing.
    package mutating func add(_ now: SecondsHistogram, since before: SecondsHistogram) {
        guard now.counts.count == Self.buckets, before.counts.count == Self.buckets else { return }
        for place in counts.indices { counts[place] &+= max(0, now.counts[place] &- before.counts[place]) }
        microseconds &+= max(0, now.microseconds &- before.microseconds)
    }
}
