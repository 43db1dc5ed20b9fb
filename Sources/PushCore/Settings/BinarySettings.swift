/// What concerns APNs' binary protocol only.
public struct BinarySettings: Sendable, Equatable {
    /// How long nothing must be heard of a message until it counts as accepted, in milliseconds.
    public var presumedAcceptedMs = 5_000
    /// The most messages of one child of a connector `ios-binary` that are sent or about to be sent and not stored.
    public var dispatchWindow = 30_000
    /// The time between two readings of a feedback service, in seconds.
    public var feedbackPeriodSec = 21_600

    /// Creates the settings with their defaults.
    public init() {}
}
