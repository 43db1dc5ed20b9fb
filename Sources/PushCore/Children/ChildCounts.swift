/// What a child has done since its start, in messages.
///
/// A new count is a member here with its line in ``all``, the place in the child where it grows, and a column of `mta_child`.
public struct ChildCounts: Sendable, Equatable {
    /// Accepted by the gateway.
    public var sent: Int64 = 0
    /// Refused for good.
    public var failed: Int64 = 0
    /// Put off to a retry part.
    public var retried: Int64 = 0
    /// Recorded as `unknown`: nobody knows whether they were sent, and they are not sent again.
    public var unknown: Int64 = 0
    /// Sent again, or put off to a retry part, although the gateway may have had them.
    public var resentAfterAmbiguity: Int64 = 0
    /// Answers that came after another process had taken the part, and were stored as facts.
    public var lateOutcomes: Int64 = 0
    /// Answered with 429: the gateway wants fewer messages.
    public var throttled: Int64 = 0

    public init() {}

    /// Accepted, refused for good or put off.
    public var resolved: Int64 { sent &+ failed &+ retried }

    /// One of the counts, under the name that it has in reports, columns, tables and metrics.
    public struct Count: Sendable {
        public let name: String
        public let path: any WritableKeyPath<ChildCounts, Int64> & Sendable
        /// Whether `pushmta_child_events_total` has it; the others have metrics of their own.
        public var isEvent = false
    }

    /// All counts, in the order of tables.
    public static let all = [
        Count(name: "sent", path: \.sent), Count(name: "failed", path: \.failed),
        Count(name: "retried", path: \.retried),
        Count(name: "unknown", path: \.unknown), Count(name: "resent_after_ambiguity", path: \.resentAfterAmbiguity),
        Count(name: "late_outcomes", path: \.lateOutcomes),
        Count(name: "throttled", path: \.throttled, isEvent: true),
    ]

    /// Adds what has grown between two reports of one child.
    public mutating func add(_ now: ChildCounts, since before: ChildCounts) {
        for count in Self.all {
            self[keyPath: count.path] &+= max(0, now[keyPath: count.path] &- before[keyPath: count.path])
        }
    }

    public static func + (first: ChildCounts, second: ChildCounts) -> ChildCounts {
        var sum = first
        sum.add(second, since: ChildCounts())
        return sum
    }
}

extension ChildCounts: Codable {
    /// Reads the counts that are known here; those that are missing are 0.
    public init(from decoder: any Decoder) throws {
        let named = try [String: Int64](from: decoder)
        for count in Self.all { self[keyPath: count.path] = named[count.name] ?? 0 }
    }

    public func encode(to encoder: any Encoder) throws {
        let named = Self.all.map { ($0.name, self[keyPath: $0.path]) }
        try Dictionary(uniqueKeysWithValues: named).encode(to: encoder)
    }
}
