import Gateways

/// What is wrong with the way to the gateway.
struct GatewayTrouble: Sendable {
    /// No connection, or no access token; over when there is one.
    var connection: GatewayEvent?
    /// Every message of the application is refused; over when one is accepted.
    var application: GatewayEvent?
}
