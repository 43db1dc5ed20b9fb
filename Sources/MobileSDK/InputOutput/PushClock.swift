/// Waits. A test can supply its own clock.
public protocol PushClock: Sendable {
    /// Waits for a number of seconds. Throws if the task is cancelled.
    func sleep(seconds: Double) async throws
}

/// The system's clock.
public struct SystemClock: PushClock {
    /// Makes a clock.
    public init() {}

    /// Waits for a number of seconds. Throws if the task is cancelled.
    public func sleep(seconds: Double) async throws {
        // A year exceeds every wait of the SDK, and in nanoseconds it is far from overflow.
        let nanoseconds = min(max(seconds, 0), 31_536_000) * 1_000_000_000
        try await Task.sleep(nanoseconds: UInt64(nanoseconds))
    }
}

/// A small seeded random generator, so that tests are repeatable (Steele, Lea and Flood, 2014).
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
