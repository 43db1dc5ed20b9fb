/// Waits; a test brings its own.
public protocol PushClock: Sendable {
    /// Waits for so many seconds. Throws when the task is cancelled.
    func sleep(seconds: Double) async throws
}

/// The system's clock.
public struct SystemClock: PushClock {
    /// Makes one.
    public init() {}

    /// Waits for so many seconds.
    public func sleep(seconds: Double) async throws {
        // A year is beyond every wait of the SDK, and in nanoseconds far from the end of the integer.
        let nanoseconds = min(max(seconds, 0), 31_536_000) * 1_000_000_000
        try await Task.sleep(nanoseconds: UInt64(nanoseconds))
    }
}

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

/// A small random generator with a seed, for chance that a test can repeat (Steele, Lea and Flood, 2014).
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
