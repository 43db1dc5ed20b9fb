/// What concerns the mobile gateways themselves (Adobe's node `nmac`).
public struct NMACSettings: Sendable, Equatable {
    /// How the gateways are reached.
    public var relay = RelaySettings()
    /// Whether gateways and token endpoints are reached through the HTTP proxy.
    public var useHTTPProxy = false
    /// The HTTP proxy.
    public var proxyHTTP = ProxyHTTPSettings()
    /// APNs' binary protocol.
    public var binary = BinarySettings()

    /// Creates the settings with their defaults.
    public init() {}
}
