/// What a child has done since its start, in messages.
///
/// To add a count, add a member here, its line in ``all``, the place in the child that increments it, and a column of
/// `mta_child`.
package struct ChildCounts: Sendable, Equatable {
    /// Accepted by the gateway.
    package var sent: Int64 = 0
    /// Permanently refused.
    package var failed: Int64 = 0
    /// Moved to a retry part.
    package var retried: Int64 = 0
    /// Recorded as `unknown`: they may or may not have been sent, and are not sent again.
    package var unknown: Int64 = 0
    /// Sent again, or moved to a retry part, although the gateway may have received them.
    package var resentAfterAmbiguity: Int64 = 0
    /// Answers that arrived after another process had taken over the part, and were still stored.
    package var lateOutcomes: Int64 = 0
    /// Answered with 429 (too many requests).
    package var throttled: Int64 = 0

    package init() {}

    /// Accepted, permanently refused, or moved to a retry part.
    package var resolved: Int64 { sent &+ failed &+ retried }

    /// A count and its name in reports, columns, tables and metrics.
    package struct Count: Sendable {
        package let name: String
        package let path: any WritableKeyPath<ChildCounts, Int64> & Sendable
        /// Whether `pushmta_child_events_total` includes it; the other counts have their own metrics.
        package var isEvent = false
    }

    /// All counts, in the order in which tables show them.
    package static let all = [
        Count(name: "sent", path: \.sent), Count(name: "failed", path: \.failed),
        Count(name: "retried", path: \.retried),
        Count(name: "unknown", path: \.unknown), Count(name: "resent_after_ambiguity", path: \.resentAfterAmbiguity),
        Count(name: "late_outcomes", path: \.lateOutcomes),
        Count(name: "throttled", path: \.throttled, isEvent: true),
    ]

    /// Adds the growth between two reports of the same child.
    package mutating func add(_ now: ChildCounts, since before: ChildCounts) {
        for count in Self.all {
            self[keyPath: count.path] &+= max(0, now[keyPath: count.path] &- before[keyPath: count.path])
        }
    }

    package static func + (first: ChildCounts, second: ChildCounts) -> ChildCounts {
        var sum = first
        sum.add(second, since: ChildCounts())
        return sum
    }
}

extension ChildCounts: Codable {
    /// The name of a count, as the key of its member.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    /// Reads the counts that this version knows; missing counts are 0. Other members, which a newer child may send, are
    /// not read at all.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        for count in Self.all {
            let name = Name(stringValue: count.name)
            self[keyPath: count.path] = try members.decodeIfPresent(Int64.self, forKey: name) ?? 0
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let named = Self.all.map { ($0.name, self[keyPath: $0.path]) }
        try Dictionary(uniqueKeysWithValues: named).encode(to: encoder)
    }
}
