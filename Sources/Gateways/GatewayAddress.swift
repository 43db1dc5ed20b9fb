import PushCore

/// Where a gateway listens.
public struct GatewayAddress: Sendable, Hashable, CustomStringConvertible {
    /// The name or the IP address.
    public var host: String
    /// The TCP port, 1 to 65,535.
    public var port: Int

    /// Makes an address.
    public init(host: String, port: Int = 443) {
        self.host = host
        self.port = port
    }

    /// Apple's and Google's own gateways, for accounts that name no other.
    ///
    /// Apple closed the binary gateway on 31 March 2021; its address stands here as an account's first value.
    public static func standard(_ connector: Connector, _ environment: ApplicationEnvironment) -> GatewayAddress? {
        switch (connector, environment) {
        case (.iosHTTP2, .production): GatewayAddress(host: "api.push.apple.com")
        case (.iosHTTP2, .sandbox): GatewayAddress(host: "api.sandbox.push.apple.com")
        case (.androidV1, _), (.androidV2, _): GatewayAddress(host: "fcm.googleapis.com")
        case (.iosBinary, .production): GatewayAddress(host: "gateway.push.apple.com", port: 2_195)
        case (.iosBinary, .sandbox): GatewayAddress(host: "gateway.sandbox.push.apple.com", port: 2_195)
        }
    }

    /// The feedback service that belongs to a binary gateway, unless an account says otherwise: Apple's has a name of its own, and
    /// the port behind the gateway's.
    public var feedback: GatewayAddress {
        let prefix = "gateway."
        let host = self.host.hasPrefix(prefix) ? "feedback." + self.host.dropFirst(prefix.count) : self.host
        return GatewayAddress(host: host, port: port + 1)
    }

    /// `host:port`, an IPv6 address in brackets.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The value of `:authority`: the port stands there only if it is not HTTPS' own.
    var authority: String {
        if port != 443 { return description }
        return host.contains(":") ? "[\(host)]" : host
    }
}
