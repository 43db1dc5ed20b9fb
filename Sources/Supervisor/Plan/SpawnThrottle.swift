/// Keeps a kind of child that dies before its first message from being started over and over.
///
/// The times are Postfix's `service_throttle_time` (60 s), doubled with each death in a row up to ten minutes. A child that
/// only found the database away says so, and waits for seconds: it is no fault of its kind, and the delivery has to go on
/// soon after the database is back. One that was killed from outside begins with a second, too.
struct SpawnThrottle: Sendable, Equatable {
    /// No child of the kind is started before.
    private(set) var until: ContinuousClock.Instant?
    private var lastDeath: EarlyDeath?
    private var lastDeathAt: ContinuousClock.Instant?
    private var deathsInARow = 0

    /// Says that a child died before its first message, and returns the pause that this costs.
    mutating func diedEarly(_ death: EarlyDeath, at now: ContinuousClock.Instant) -> Duration {
        if death != lastDeath { deathsInARow = 0 }
        let (first, longest) = Self.pauses(after: death)
        let pause = min(first * (1 << min(deathsInARow, 10)), longest)
        lastDeath = death
        lastDeathAt = now
        deathsInARow += 1
        until = now.advanced(by: pause)
        return pause
    }

    /// Whether a child of the kind may be started.
    func isOpen(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }

    /// Whether a message of a child that was started then ends the series: an older child says nothing about those that died.
    func isRefuted(byChildOf start: ContinuousClock.Instant) -> Bool { lastDeathAt.map { $0 <= start } ?? true }

    private static func pauses(after death: EarlyDeath) -> (first: Duration, longest: Duration) {
        switch death {
        case .surroundings: (.seconds(1), .seconds(10))
        case .outside: (.seconds(1), .seconds(60))
        case .own: (.seconds(60), .seconds(600))
        }
    }
}
