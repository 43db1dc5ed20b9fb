/// The number of exchanges that match a trace.
package struct TraceCounts: Sendable, Codable, Equatable {
    /// All matching exchanges, including those shown.
    package var matched: Int64 = 0
    /// Exchanges dropped because the queue was full; sending did not wait for them.
    package var lost: Int64 = 0
    /// Exchanges whose push token was not compared, because hashing that many tokens would have slowed sending down.
    package var unchecked: Int64 = 0

    package init() {}
}
