/// Waits; a test brings its own.
public protocol PushClock: Sendable {
    /// Waits for so many seconds. Throws when the task is cancelled.
    func sleep(seconds: Double) async throws
}
