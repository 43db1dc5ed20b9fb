/// The gateway environment that an application's push tokens belong to.
///
/// APNs separates sandbox and production tokens; FCM has production only.
package enum ApplicationEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case sandbox
    case production
}

extension ApplicationEnvironment {
    /// The environment that one of Apple's gateways serves, by its host.
    ///
    /// Nil for every other host: a proxy may serve either environment, and Google has a single gateway.
    package init?(gatewayHost: String) {
        switch GatewayHost.comparable(gatewayHost) {
        case "api.push.apple.com", "gateway.push.apple.com": self = .production
        case "api.sandbox.push.apple.com", "api.development.push.apple.com", "gateway.sandbox.push.apple.com":
            self = .sandbox
        default: return nil
        }
    }
}
