/// The HTTP proxy (the parameters of Adobe's node `proxyConfig/proxyHTTP`).
public struct ProxyHTTPSettings: Sendable, Equatable {
    /// Its name or IP address; `environment` takes proxy and exceptions from `https_proxy` and `no_proxy`.
    public var address = ""
    /// Its port.
    public var port = 8_080
    /// The name to give it. Empty: none.
    public var login = ""
    /// The password to give it.
    public var password = ""
    /// Hosts that are reached without it, separated with semicolons; `*` stands for anything.
    public var override = ""

    /// Creates the settings with their defaults.
    public init() {}
}
