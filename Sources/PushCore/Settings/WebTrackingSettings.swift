/// How the web process stores hits.
public struct WebTrackingSettings: Sendable, Equatable {
    /// The most hits of one transaction.
    public var batchSize = 1_000
    /// How long a hit waits for others, in milliseconds.
    public var batchDelayMs = 1
    /// The most hits that wait.
    public var maxWaiting = 50_000
    /// How long the database may take for a transaction until its hits go to the spool, in milliseconds.
    public var databaseTimeoutMs = 2_000
    /// The most disk that the spools take, in MiB.
    public var maxSpoolMb = 500

    /// Creates the settings with their defaults.
    public init() {}
}
