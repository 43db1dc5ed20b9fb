/// Lets a notice through at once and then once a minute, with the sum of what it is about.
///
/// An outage or a full disk says the same of each batch, hundreds of times a second; so many lines would fill the log's disk, too.
struct NoticePace: Sendable {
    private var last: ContinuousClock.Instant?
    private var sum = 0

    private static let pause = Duration.seconds(60)

    /// Takes a number of things; returns how many the notice is about, nil if it is to wait.
    mutating func add(_ count: Int, at now: ContinuousClock.Instant = .now) -> Int? {
        sum += count
        if let last, now - last < Self.pause { return nil }
        last = now
        defer { sum = 0 }
        return sum
    }
}
