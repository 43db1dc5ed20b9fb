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
