/// What a child tells for the metrics of its host, with each status line; counters begin with the process.
public struct ChildFigures: Sendable, Codable, Equatable {
    /// Messages with an outcome, by outcome and class of reason.
    public var messages: [OutcomeFigure]
    /// From writing a message to the gateway's answer.
    public var gateway: SecondsHistogram
    /// From the moment at which a single message was due, its commit or its next attempt, to the gateway's answer.
    public var waits: SecondsHistogram
    /// Times of work with the database.
    public var database: DatabaseTimes
    /// Processor time so far.
    public var cpuSeconds: Double

    /// Makes figures; what is left out is 0.
    public init(
        messages: [OutcomeFigure] = [],
        gateway: SecondsHistogram = SecondsHistogram(),
        waits: SecondsHistogram = SecondsHistogram(),
        database: DatabaseTimes = DatabaseTimes(),
        cpuSeconds: Double = 0
    ) {
        self.messages = messages
        self.gateway = gateway
        self.waits = waits
        self.database = database
        self.cpuSeconds = cpuSeconds
    }
}

/// How many messages ended in one way.
public struct OutcomeFigure: Sendable, Codable, Equatable {
    /// The outcome's name, such as `sent`.
    public var outcome: String
    /// The class of its reason, `none` without one.
    public var reasonClass: String
    public var count: Int64

    public init(outcome: String, reasonClass: String, count: Int64) {
        self.outcome = outcome
        self.reasonClass = reasonClass
        self.count = count
    }
}

/// How long a child's work with the database takes, by its kind.
public struct DatabaseTimes: Sendable, Codable, Equatable {
    /// Claims of parts.
    public var claim = SecondsHistogram()
    /// Reading tokens and fields of parts.
    public var load = SecondsHistogram()
    /// Commits of dispatch marks, before messages leave.
    public var mark = SecondsHistogram()
    /// Storing of outcomes, with the commit.
    public var store = SecondsHistogram()

    public init() {}

    public var all: [(name: String, times: SecondsHistogram)] {
        [("claim", claim), ("load", load), ("mark", mark), ("store", store)]
    }

    /// Adds what another has more than it had before.
    public mutating func add(_ now: DatabaseTimes, since before: DatabaseTimes) {
        claim.add(now.claim, since: before.claim)
        load.add(now.load, since: before.load)
        mark.add(now.mark, since: before.mark)
        store.add(now.store, since: before.store)
    }
}

/// Counts durations in buckets of twice the size each, so that counting one costs two instructions and no search.
public struct SecondsHistogram: Sendable, Codable, Equatable {
    /// The first bucket ends at 0.512 ms, the last but one at 33.6 s, above each timeout that is set by default.
    private static let firstBits = 9
    /// Buckets, the last of which has what is longer than all bounds.
    public static let buckets = 18

    /// Upper bounds of the buckets in seconds; the last bucket has none.
    public static let bounds: [Double] = (0..<buckets - 1).map { Double(1 << (firstBits + $0)) / 1e6 }

    /// How many durations are in each bucket.
    public private(set) var counts: [Int64]
    /// The sum of all durations in microseconds.
    public private(set) var microseconds: Int64

    public init() {
        counts = [Int64](repeating: 0, count: Self.buckets)
        microseconds = 0
    }

    /// The sum of all durations in seconds.
    public var seconds: Double { Double(microseconds) / 1e6 }

    /// How many durations were counted.
    public var total: Int64 { counts.reduce(0, &+) }

    public mutating func record(microseconds duration: UInt32) {
        microseconds &+= Int64(duration)
        // The number of bits of what is one less: a duration that is a bound belongs to the bucket that ends there.
        let bits = UInt32.bitWidth - (max(1, duration) - 1).leadingZeroBitCount
        counts[min(max(0, bits - Self.firstBits), Self.buckets - 1)] &+= 1
    }

    public mutating func record(_ duration: Duration) {
        record(microseconds: UInt32(clamping: Int64(max(0, duration / .microseconds(1)))))
    }

    /// Adds what another has more than it had before; one of another form, as a child of another version may send, adds nothing.
    public mutating func add(_ now: SecondsHistogram, since before: SecondsHistogram) {
        guard now.counts.count == Self.buckets, before.counts.count == Self.buckets else { return }
        for place in counts.indices { counts[place] &+= max(0, now.counts[place] &- before.counts[place]) }
        microseconds &+= max(0, now.microseconds &- before.microseconds)
    }
}
