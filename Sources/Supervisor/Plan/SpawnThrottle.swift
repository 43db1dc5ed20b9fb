import ProcessProtocol

/// Keeps a kind of child that dies before its first message from being started over and over.
///
/// The times are Postfix's `service_throttle_time` (60 s), doubled with each death in a row up to ten minutes. A child that
/// only found the database away says so, and waits for seconds: it is no fault of its kind, and the delivery has to go on
/// soon after the database is back.
struct SpawnThrottle: Sendable, Equatable {
    static let firstPause = Duration.seconds(60)
    static let longestPause = Duration.seconds(600)
    static let firstDatabasePause = Duration.seconds(1)
    static let longestDatabasePause = Duration.seconds(10)

    /// No child of the kind is started before.
    private(set) var until: ContinuousClock.Instant?
    private var deathsInARow = 0

    /// Says that a child died before its first message, and returns the pause that this costs.
    mutating func diedEarly(_ reason: ChildExitReason, at now: ContinuousClock.Instant) -> Duration {
        let first = reason == .database ? Self.firstDatabasePause : Self.firstPause
        let longest = reason == .database ? Self.longestDatabasePause : Self.longestPause
        let doublings = min(deathsInARow, 10)
        let pause = min(first * (1 << doublings), longest)
        deathsInARow += 1
        until = now.advanced(by: pause)
        return pause
    }

    /// Whether a child of the kind may be started.
    func isOpen(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }
}
