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
