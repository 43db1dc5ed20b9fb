/// Growing pauses between attempts: exponential back-off with full jitter.
///
/// Each pause is random, between the floor and a ceiling that doubles with each failure. Full jitter spreads clients
/// that failed together best (AWS Architecture Blog, "Exponential Backoff And Jitter").
package struct BackOff: Sendable, Hashable {
    /// The minimum pause.
    package let floor: Duration
    /// The ceiling of the first pause.
    package let initial: Duration
    /// The maximum of the ceiling.
    package var maximum: Duration
    /// The number of pauses since the last success.
    package private(set) var failures = 0

    /// Makes a back-off whose first pause is at most `initial` and whose pauses are at most `maximum`.
    package init(initial: Duration, maximum: Duration, floor: Duration = .zero) {
        self.floor = floor
        self.initial = initial
        self.maximum = maximum
    }

    /// The maximum pause after the given number of failures.
    package func ceiling(afterFailures failures: Int) -> Duration {
        var ceiling = initial
        // 62 doublings of a nanosecond exceed a century, so the loop ends early for any sensible maximum.
        for _ in 0..<min(max(failures, 0), 62) where ceiling < maximum { ceiling *= 2 }
        return max(min(ceiling, maximum), floor)
    }

    /// The pause to make now, after one more failure.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let pause = pause(afterFailures: failures, using: &generator)
        failures += 1
        return pause
    }

    /// The pause to make now, after one more failure.
    package mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// A random pause after the given number of failures.
    package func pause(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let range = ceiling(afterFailures: failures) - floor
        return floor + range * Double.random(in: 0...1, using: &generator)
    }

    /// The pauses between attempts to use the database while it fails.
    ///
    /// The first pause is short because most outages are: a restart takes a second, and after a terminated backend the
    /// next connection works at once.
    package static func database(longest: Duration) -> BackOff {
        BackOff(initial: .milliseconds(100), maximum: longest, floor: .milliseconds(50))
    }

    /// Forgets the failures, after a success.
    package mutating func reset() {
        failures = 0
    }
}
