/// How the web process stores registrations.
public struct WebRegistrationSettings: Sendable, Equatable {
    /// The most registrations of one transaction.
    public var batchSize = 500
    /// How long a registration waits for others, in milliseconds.
    public var batchDelayMs = 1
    /// The most registrations that wait.
    public var maxWaiting = 20_000
    /// How long a registration waits for a database that is away, in seconds.
    public var timeoutSec = 5

    /// Creates the settings with their defaults.
    public init() {}
}
