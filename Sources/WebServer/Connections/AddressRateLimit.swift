import HTTPConnections
import PushCore

/// A limit of requests per second for each client address: a token bucket that holds a burst.
///
/// An IPv6 client has a whole /64, so that is what is counted. The owner of a /48 has 65,536 of these, so the /48 is
/// counted too, with ``networkFactor`` times the limit. The size of the table is limited: when it is full, the fullest
/// buckets are dropped, which changes the least. So a client that has used up its bucket is remembered longest.
struct AddressRateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var seconds: Double

        /// The number of tokens at a moment.
        func level(_ now: Double, _ perSecond: Double, _ burst: Double) -> Double {
            min(burst, tokens + max(0, now - seconds) * perSecond)
        }
    }

    /// The limit of a /48 as a multiple of a client's limit. A mobile network gives each phone a /64 of one or more
    /// /48; a site that has a /48 for itself has few busy clients at once.
    static let networkFactor = 8.0
    /// The number of fill levels that eviction distinguishes.
    private static let steps = 64

    private let perSecond: Double
    private let burst: Double
    private let capacity: Int
    private var buckets: [IPAddress: Bucket] = [:]
    private var networks: [IPAddress: Bucket] = [:]

    /// Makes a limit; 0 requests per second means no limit. 100,000 addresses take about 10 MiB.
    init(perSecond: Int, burst: Int, capacity: Int = 100_000) {
        self.perSecond = Double(max(perSecond, 0))
        self.burst = Double(max(burst, 1))
        self.capacity = max(capacity, 2)
    }

    /// Counts a request of an address at a time of a monotonic clock; false if it exceeds the limit.
    mutating func allow(_ address: IPAddress, seconds: Double) -> Bool {
        guard perSecond > 0 else { return true }
        if !address.isIPv4 {
            let factor = Self.networkFactor
            let network = AddressRange.masked(address, 48)
            // The /48 comes before its /64 takes room in the table, so that one network cannot evict all others.
            guard Self.take(network, &networks, seconds, perSecond * factor, burst * factor, capacity / 2) else {
                return false
            }
        }
        return Self.take(address.client, &buckets, seconds, perSecond, burst, capacity - capacity / 2)
    }

    /// Whether a request of an address would exceed the limit; does not count it.
    func isExhausted(_ address: IPAddress, seconds: Double) -> Bool {
        guard perSecond > 0 else { return false }
        let factor = Self.networkFactor
        let network = address.isIPv4 ? nil : networks[AddressRange.masked(address, 48)]
        if let network, network.level(seconds, perSecond * factor, burst * factor) < 1 { return true }
        return buckets[address.client].map { $0.level(seconds, perSecond, burst) < 1 } ?? false
    }

    /// The number of addresses and networks in the tables.
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

    /// Frees an eighth of the table, so that not every new address needs a scan.
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
        // Keeps all levels below the edge, and as many buckets of the edge level as there is room for.
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
