/// Limits a log notice: the first comes at once, then one a minute with the sum of its counts.
///
/// During an outage or with a full disk, each batch would log the same line, hundreds of times a second, which could
/// fill the log's disk too.
struct NoticePace: Sendable {
    private var last: ContinuousClock.Instant?
    private var sum = 0

    private static let pause = Duration.seconds(60)

    /// Adds a count; returns the sum if the notice is due, else nil.
    mutating func add(_ count: Int, at now: ContinuousClock.Instant = .now) -> Int? {
        sum += count
        if let last, now - last < Self.pause { return nil }
        last = now
        defer { sum = 0 }
        return sum
    }
}
