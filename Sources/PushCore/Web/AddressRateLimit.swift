/// A limit of requests per second for each client address: a bucket that refills, and holds a burst.
///
/// IPv6 clients have a whole /64 each, so that is what is counted. The table is bounded: when it is full, buckets that are full
/// again are forgotten, which changes nothing for them.
public struct AddressRateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var seconds: Double
    }

    private let perSecond: Double
    private let burst: Double
    private let capacity: Int
    private var buckets: [IPAddress: Bucket] = [:]

    /// A limit; 0 requests per second are none. 100,000 addresses take about 10 MiB.
    public init(perSecond: Int, burst: Int, capacity: Int = 100_000) {
        self.perSecond = Double(max(perSecond, 0))
        self.burst = Double(max(burst, 1))
        self.capacity = max(capacity, 1)
    }

    /// Counts a request of an address at a moment of a monotonic clock; false if it is one too many.
    public mutating func allow(_ address: IPAddress, seconds: Double) -> Bool {
        guard perSecond > 0 else { return true }
        let client = address.isIPv4 ? address : AddressRange.masked(address, 64)
        if var bucket = buckets[client] {
            bucket.tokens = min(burst, bucket.tokens + max(0, seconds - bucket.seconds) * perSecond)
            bucket.seconds = max(seconds, bucket.seconds)
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            buckets[client] = bucket
            return isAllowed
        }
        if buckets.count >= capacity { forgetFullBuckets(seconds) }
        buckets[client] = Bucket(tokens: burst - 1, seconds: seconds)
        return true
    }

    /// Addresses in the table.
    public var count: Int { buckets.count }

    private mutating func forgetFullBuckets(_ seconds: Double) {
        let (burst, perSecond) = (burst, perSecond)
        buckets = buckets.filter { $0.value.tokens + (seconds - $0.value.seconds) * perSecond < burst }
        // More addresses at once than it holds: start anew rather than grow, or search for each of them.
        if buckets.count > capacity / 2 { buckets = [:] }
    }
}
