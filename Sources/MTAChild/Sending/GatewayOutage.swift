import Gateways

/// What the log is told of a gateway that cannot be reached: its begin and its end, and not each attempt.
struct GatewayOutage: Sendable {
    private var since: ContinuousClock.Instant?
    private var attempts = 0
    /// The kinds of failures that were told in this outage: another one is news.
    private var told: Set<GatewayEvent.Kind> = []

    /// An attempt has failed; returns whether that is to be told.
    mutating func failed(_ kind: GatewayEvent.Kind, at now: ContinuousClock.Instant) -> Bool {
        if since == nil { since = now }
        attempts += 1
        return told.insert(kind).inserted
    }

    /// The gateway was reached; returns how long it was not, and how many attempts had failed, unless there was no outage.
    mutating func reached(at now: ContinuousClock.Instant) -> (time: Duration, attempts: Int)? {
        guard let since else { return nil }
        defer { self = GatewayOutage() }
        return (now - since, attempts)
    }
}
