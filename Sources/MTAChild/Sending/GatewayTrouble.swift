import Gateways

/// What is wrong with the way to the gateway.
struct GatewayTrouble: Sendable {
    /// No connection, or no access token; over when there is one.
    var connection: GatewayEvent? { didSet { settle() } }
    /// Every message of the application is refused; over when one is accepted.
    var application: GatewayEvent? { didSet { settle() } }
    /// When the trouble began; nil when all is well.
    private(set) var since: ContinuousClock.Instant?

    private mutating func settle() {
        since = connection == nil && application == nil ? nil : since ?? .now
    }
}
