import Gateways

/// What is wrong with the path to the gateway.
struct GatewayTrouble: Sendable {
    /// No connection, or no access token; cleared when there is one.
    var connection: GatewayEvent?
    /// Every message of the application is refused; cleared when one is accepted.
    var application: GatewayEvent?
    /// Tracks which failures of an outage were logged.
    private var outage = GatewayOutage()
    /// Messages whose outcome may be wrong. The notice is only shown; it does not keep anything from being sent.
    private var last: (event: GatewayEvent, at: ContinuousClock.Instant)?
    /// How long such a notice is shown, because no event clears it: by default as long as a child lives.
    static let noticeTime = Duration.seconds(600)

    /// Stores a notice to show; the last one counts.
    mutating func note(_ event: GatewayEvent, at moment: ContinuousClock.Instant = .now) {
        last = (event, moment)
    }

    /// The notice to show; nil if there is none.
    func notice(at moment: ContinuousClock.Instant = .now) -> GatewayEvent? {
        last.flatMap { moment - $0.at < Self.noticeTime ? $0.event : nil }
    }

    /// Notes that there is a connection, or an access token.
    /// - Returns: how long there was none, and how many attempts failed; nil if there was no outage.
    mutating func reached(at moment: ContinuousClock.Instant = .now) -> (time: Duration, attempts: Int)? {
        connection = nil
        return outage.reached(at: moment)
    }

    /// Notes that there is no connection, or no access token.
    /// - Returns: whether to log it.
    mutating func failed(_ event: GatewayEvent, at moment: ContinuousClock.Instant = .now) -> Bool {
        connection = event
        return outage.failed(event.kind, at: moment)
    }
}

/// Limits the log of an unreachable gateway to the begin and end of the outage, instead of each attempt.
struct GatewayOutage: Sendable {
    private var since: ContinuousClock.Instant?
    private var attempts = 0
    /// The kinds of failures already logged in this outage; a new kind is logged, too.
    private var told: Set<GatewayEvent.Kind> = []

    /// Notes a failed attempt; returns whether to log it.
    mutating func failed(_ kind: GatewayEvent.Kind, at now: ContinuousClock.Instant) -> Bool {
        if since == nil { since = now }
        attempts += 1
        return told.insert(kind).inserted
    }

    /// Notes that the gateway was reached; returns how long it was not, and how many attempts failed; nil if there was
    /// no outage.
    mutating func reached(at now: ContinuousClock.Instant) -> (time: Duration, attempts: Int)? {
        guard let since else { return nil }
        defer { self = GatewayOutage() }
        return (now - since, attempts)
    }
}
