/// The pauses between attempts.
struct BackOff: Sendable {
    /// The first pause in seconds, long enough for a phone to switch networks.
    static let first = 5.0
    /// The maximum pause in seconds, so that a device that was offline for long is seen within an hour.
    static let longest = 3600.0
    /// The maximum of `Retry-After` in seconds: no server may silence a device for longer.
    static let longestAsked = 86_400.0

    private var dice: SplitMix64
    private(set) var failures = 0

    init(seed: UInt64) {
        dice = SplitMix64(state: seed)
    }

    /// The pause before the next attempt, in seconds. It doubles with each failure and is a random value between half
    /// and the whole of that, so that devices that lost a server together do not return together. A server may ask for
    /// more.
    mutating func next(atLeast asked: Double?) -> Double {
        let doubled = Self.first * Double(UInt64(1) << UInt64(min(failures, 20)))
        failures = min(failures + 1, 20)
        let chosen = min(doubled, Self.longest) * Double.random(in: 0.5...1, using: &dice)
        return max(chosen, min(asked ?? 0, Self.longestAsked))
    }

    mutating func reset() {
        failures = 0
    }
}
