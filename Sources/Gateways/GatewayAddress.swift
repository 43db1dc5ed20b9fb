import PushCore

public struct GatewayAddress: Sendable, Hashable, CustomStringConvertible {
    /// The name or the IP address.
    public var host: String
    /// The TCP port, 1 to 65,535.
    public var port: Int

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

/// What is known of Apple's and Google's own gateways, for those who set an account's address.
extension GatewayAddress {
    /// What is wrong with an address of Apple's or Google's own gateways; nil for other hosts, which are stand-ins and proxies.
    public func problem(_ connector: Connector) -> String? {
        let host = GatewayHost.comparable(host)
        guard let owner = Connector.allCases.first(where: { Self.hosts($0).contains(host) }) else { return nil }
        guard Self.hosts(connector).contains(host) else {
            return "\(host) is a gateway of connector \(owner.rawValue), and the account has \(connector.rawValue)"
        }
        let ports = Self.ports(connector)
        // That there are no other ports at all is said by the table.
        guard !ports.contains(port), (1...65_535).contains(port) else { return nil }
        return "\(host) listens on \(ports.map(String.init).joined(separator: " and ")), not on \(port)"
    }

    /// Whether it is that of the binary gateway that Apple closed on 31 March 2021.
    public func isClosed(_ connector: Connector) -> Bool {
        connector == .iosBinary && Self.hosts(.iosBinary).contains(GatewayHost.comparable(host))
    }

    /// Apple's HTTP/2 gateway has its sandbox under two names.
    private static func hosts(_ connector: Connector) -> [String] {
        let standard = ApplicationEnvironment.allCases.compactMap { GatewayAddress.standard(connector, $0)?.host }
        return connector == .iosHTTP2 ? standard + ["api.development.push.apple.com"] : standard
    }

    /// 2197 is for networks that let nothing but 443's web traffic through (Apple, "Sending notification requests to APNs").
    public static func ports(_ connector: Connector) -> [Int] {
        switch connector {
        case .iosHTTP2: [443, 2197]
        case .iosBinary: [2195]
        case .androidV1, .androidV2: [443]
        }
    }
}
