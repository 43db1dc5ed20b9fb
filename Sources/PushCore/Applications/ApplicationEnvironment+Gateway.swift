extension ApplicationEnvironment {
    /// The environment that one of Apple's own gateways serves, by its host.
    ///
    /// Nil for every other host: it may stand in for either, and Google has one gateway for all.
    public init?(gatewayHost: String) {
        switch GatewayHost.comparable(gatewayHost) {
        case "api.push.apple.com", "gateway.push.apple.com": self = .production
        case "api.sandbox.push.apple.com", "api.development.push.apple.com", "gateway.sandbox.push.apple.com":
            self = .sandbox
        default: return nil
        }
    }
}
