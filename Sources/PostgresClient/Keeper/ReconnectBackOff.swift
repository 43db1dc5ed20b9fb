/// How long to wait before the next attempt to connect: exponential with full jitter, so that many processes that lost
/// the same server do not come back at once.
public struct ReconnectBackOff: Sendable, Hashable {
    /// The bound of the first delay.
    public var base: Duration
    /// The largest bound.
    public var cap: Duration
    /// Failed attempts since the last success.
    public private(set) var attempts = 0

    /// Makes a back-off; 100 ms to 4 s bring a process back soon after a restart without a storm on a long outage.
    ///
    /// Owners of leases must be back well within a lease (15 s) after those who look for lost ones, whose pause may have been short.
    public init(base: Duration = .milliseconds(100), cap: Duration = .seconds(4)) {
        self.base = base
        self.cap = cap
    }

    /// Counts a failed attempt and returns the delay before the next: uniform between 0 and min(cap, base × 2^(n - 1)).
    public mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        // 2^20 is beyond any sensible cap and far from overflow.
        let bound = min(cap, base * (1 << min(attempts, 20)))
        attempts += 1
        return bound * Double.random(in: 0...1, using: &generator)
    }

    /// Starts anew after a connection that lasted.
    public mutating func reset() { attempts = 0 }
}
