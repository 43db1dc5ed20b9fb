import HTTPConnections
import PushCore

/// A limit of requests per second for each client address: a bucket that refills, and holds a burst.
///
/// IPv6 clients have a whole /64 each, so that is what is counted; as who has a /48 has 65,536 of those, that is counted too, with
/// ``networkFactor`` times the limit. The table is bounded: when it is full, the buckets with the most left go, which changes the
/// least: whoever has used his up is remembered longest.
struct AddressRateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var seconds: Double

        /// What it holds at a moment.
        func level(_ now: Double, _ perSecond: Double, _ burst: Double) -> Double {
            min(burst, tokens + max(0, now - seconds) * perSecond)
        }
    }

    /// How many times the limit of a client its /48 has: a mobile network gives each phone a /64 of one /48 and more, and a site that has
    /// one for itself has few that are busy at once.
    static let networkFactor = 8.0
    /// The steps in which buckets are told from each other when some must go.
    private static let steps = 64

    private let perSecond: Double
    private let burst: Double
    private let capacity: Int
    private var buckets: [IPAddress: Bucket] = [:]
    private var networks: [IPAddress: Bucket] = [:]

    /// A limit; 0 requests per second are none. 100,000 addresses take about 10 MiB.
    init(perSecond: Int, burst: Int, capacity: Int = 100_000) {
        self.perSecond = Double(max(perSecond, 0))
        self.burst = Double(max(burst, 1))
        self.capacity = max(capacity, 2)
    }

    /// Counts a request of an address at a moment of a monotonic clock; false if it is one too many.
    mutating func allow(_ address: IPAddress, seconds: Double) -> Bool {
        guard perSecond > 0 else { return true }
        if !address.isIPv4 {
            let factor = Self.networkFactor
            let network = AddressRange.masked(address, 48)
            // Before its /64 takes a place in the table: one network cannot drive others out of it.
            guard Self.take(network, &networks, seconds, perSecond * factor, burst * factor, capacity / 2) else {
                return false
            }
        }
        return Self.take(address.client, &buckets, seconds, perSecond, burst, capacity - capacity / 2)
    }

    /// Whether a request of an address would be one too many; counts nothing.
    func isExhausted(_ address: IPAddress, seconds: Double) -> Bool {
        guard perSecond > 0 else { return false }
        let factor = Self.networkFactor
        let network = address.isIPv4 ? nil : networks[AddressRange.masked(address, 48)]
        if let network, network.level(seconds, perSecond * factor, burst * factor) < 1 { return true }
        return buckets[address.client].map { $0.level(seconds, perSecond, burst) < 1 } ?? false
    }

    /// Addresses and networks in the table.
    var count: Int { buckets.count + networks.count }

    private static func take(
        _ key: IPAddress,
        _ table: inout [IPAddress: Bucket],
        _ seconds: Double,
        _ perSecond: Double,
        _ burst: Double,
        _ capacity: Int
    ) -> Bool {
        if var bucket = table[key] {
            bucket.tokens = bucket.level(seconds, perSecond, burst)
            bucket.seconds = max(seconds, bucket.seconds)
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            table[key] = bucket
            return isAllowed
        }
        if table.count >= capacity { evict(&table, seconds, perSecond, burst, capacity) }
        table[key] = Bucket(tokens: burst - 1, seconds: seconds)
        return true
    }

    /// Makes room for an eighth of the table, so that it need not be looked through for each new address.
    private static func evict(
        _ table: inout [IPAddress: Bucket],
        _ seconds: Double,
        _ perSecond: Double,
        _ burst: Double,
        _ capacity: Int
    ) {
        func step(_ bucket: Bucket) -> Int {
            min(steps - 1, max(0, Int(bucket.level(seconds, perSecond, burst) / burst * Double(steps))))
        }
        var counts = [Int](repeating: 0, count: steps)
        for bucket in table.values { counts[step(bucket)] += 1 }
        let kept = capacity - max(1, capacity / 8)
        // The fullest step that stays whole; of the one above it as many as there is room for.
        var room = kept
        var edge = 0
        while edge < steps, counts[edge] <= room {
            room -= counts[edge]
            edge += 1
        }
        table = table.filter { _, bucket in
            let step = step(bucket)
            guard step == edge else { return step < edge }
            room -= 1
            return room >= 0
        }
    }
}
