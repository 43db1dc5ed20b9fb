/// Growing pauses between attempts: exponential with full jitter.
///
/// Each pause is a random one between the floor and a ceiling that doubles. Full jitter spreads clients that failed
/// together best (AWS Architecture Blog, "Exponential Backoff And Jitter").
public struct BackOff: Sendable, Hashable {
    /// No pause is shorter.
    public let floor: Duration
    /// The ceiling of the first pause.
    public let initial: Duration
    /// The ceiling never exceeds this.
    public var maximum: Duration
    /// How many pauses were taken since the last success.
    public private(set) var failures = 0

    /// Makes a back-off whose first pause is at most `initial` and no pause more than `maximum`.
    public init(initial: Duration, maximum: Duration, floor: Duration = .zero) {
        self.floor = floor
        self.initial = initial
        self.maximum = maximum
    }

    /// The longest pause that the given number of earlier failures allows.
    public func ceiling(afterFailures failures: Int) -> Duration {
        var ceiling = initial
        // 62 doublings of a nanosecond exceed a century, so the loop ends early for any sensible maximum.
        for _ in 0..<min(max(failures, 0), 62) where ceiling < maximum { ceiling *= 2 }
        return max(min(ceiling, maximum), floor)
    }

    /// The pause to make now, after one more failure.
    public mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let pause = pause(afterFailures: failures, using: &generator)
        failures += 1
        return pause
    }

    /// The pause to make now, after one more failure.
    public mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// A random pause for the given number of earlier failures.
    public func pause(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let range = ceiling(afterFailures: failures) - floor
        return floor + range * Double.random(in: 0...1, using: &generator)
    }

    /// The pauses between attempts at something that the database refuses.
    ///
    /// The first is short, as most of its absences are: a restart takes a second, a terminated backend nothing at all.
    public static func database(longest: Duration) -> BackOff {
        BackOff(initial: .milliseconds(100), maximum: longest, floor: .milliseconds(50))
    }

    /// Forgets the failures, after a success.
    public mutating func reset() {
        failures = 0
    }
}
