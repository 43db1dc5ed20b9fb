/// How delivery parts are leased to MTA children.
public struct LeaseSettings: Sendable, Equatable {
    /// How long a part stays with an owner of whom nothing is heard, in seconds.
    public var durationSec = 15
    /// The time between two renewals, in seconds.
    public var renewalSec = 5

    /// Creates the settings with their defaults.
    public init() {}
}
