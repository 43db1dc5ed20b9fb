/// How delivery parts are leased to MTA children.
public struct LeaseSettings: Sendable, Equatable {
    /// How long a part stays with an owner of whom nothing is heard, in seconds.
    public var durationSec = 15
    /// The time between two renewals, in seconds.
    public var renewalSec = 5

    /// How long the load of a part may take: so much that the renewal before it, and the next one, lie within a lease.
    public var loadTimeout: Duration { .seconds(durationSec - renewalSec) }

    /// Creates the settings with their defaults.
    public init() {}
}
