/// How long to wait before the next try.
struct BackOff: Sendable {
    /// Long enough for a phone to change from one network to another.
    static let first = 5.0
    /// A device that was off line for long is seen within an hour.
    static let longest = 3600.0
    /// No server may silence a device for longer than this with `Retry-After`.
    static let longestAsked = 86_400.0

    private var dice: SplitMix64
    private(set) var failures = 0

    init(seed: UInt64) {
        dice = SplitMix64(state: seed)
    }

    /// The seconds until the next try: doubled with each failure, and between a half and the whole of it by chance, so that
    /// the devices that lost a server together do not come back together. A server may ask for more.
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
