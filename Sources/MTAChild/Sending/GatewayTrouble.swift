import Gateways

/// What is wrong with the way to the gateway.
struct GatewayTrouble: Sendable {
    /// No connection, or no access token; over when there is one.
    var connection: GatewayEvent?
    /// Every message of the application is refused; over when one is accepted.
    var application: GatewayEvent?
    /// What the log was told of a gateway that cannot be reached.
    private var outage = GatewayOutage()
    /// Messages whose outcome may be wrong: over when it is told, so that it keeps nothing from being sent.
    private var last: (event: GatewayEvent, at: ContinuousClock.Instant)?
    /// Nothing takes such a notice back: it is shown for so long, as long as a child lives by default.
    static let noticeTime = Duration.seconds(600)

    /// Keeps a notice to be shown; the last one counts.
    mutating func note(_ event: GatewayEvent, at moment: ContinuousClock.Instant = .now) {
        last = (event, moment)
    }

    /// The notice that is to be shown; nil if there is none.
    func notice(at moment: ContinuousClock.Instant = .now) -> GatewayEvent? {
        last.flatMap { moment - $0.at < Self.noticeTime ? $0.event : nil }
    }

    /// There is a connection, or an access token.
    /// - Returns: how long there was none, and how many attempts had failed, unless all was well.
    mutating func reached(at moment: ContinuousClock.Instant = .now) -> (time: Duration, attempts: Int)? {
        connection = nil
        return outage.reached(at: moment)
    }

    /// There is no connection, or no access token.
    /// - Returns: whether that is news for the log.
    mutating func failed(_ event: GatewayEvent, at moment: ContinuousClock.Instant = .now) -> Bool {
        connection = event
        return outage.failed(event.kind, at: moment)
    }
}

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
