import PushCore

package struct GatewayAddress: Sendable, Hashable, CustomStringConvertible {
    /// The name or the IP address.
    package var host: String
    /// The TCP port, 1 to 65,535.
    package var port: Int

    package init(host: String, port: Int = 443) {
        self.host = host
        self.port = port
    }

    /// The vendor's own gateway, for accounts that name no other. The address of a closed gateway is only an account's
    /// initial value.
    package static func standard(_ connector: Connector, _ environment: ApplicationEnvironment) -> GatewayAddress? {
        let facts = connector.facts
        guard let host = facts.hosts[environment], let port = facts.ports.first else { return nil }
        return GatewayAddress(host: host, port: port)
    }

    /// The feedback service of a binary gateway, unless an account names another. Apple's has its own name and the port
    /// after the gateway's.
    package var feedback: GatewayAddress {
        let prefix = "gateway."
        let host = self.host.hasPrefix(prefix) ? "feedback." + self.host.dropFirst(prefix.count) : self.host
        return GatewayAddress(host: host, port: port + 1)
    }

    /// `host:port`, an IPv6 address in brackets.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The value of `:authority`, with the port only if it is not the HTTPS default.
    package var authority: String {
        if port != 443 { return description }
        return host.contains(":") ? "[\(host)]" : host
    }
}

/// Facts about Apple's and Google's own gateways, to check an account's address.
extension GatewayAddress {
    /// What is wrong with an address of Apple's or Google's own gateways; nil for other hosts, such as simulators and
    /// proxies.
    package func problem(_ connector: Connector) -> String? {
        let host = GatewayHost.comparable(host)
        guard let owner = Connector.allCases.first(where: { Self.hosts($0).contains(host) }) else { return nil }
        guard Self.hosts(connector).contains(host) else {
            return "\(host) is a gateway of connector \(owner.rawValue), and the account has \(connector.rawValue)"
        }
        let ports = Self.ports(connector)
        // The table is complete: there are no other ports.
        guard !ports.contains(port), (1...65_535).contains(port) else { return nil }
        return "\(host) listens on \(ports.map(String.init).joined(separator: " and ")), not on \(port)"
    }

    /// Whether it is a vendor's gateway that was closed, as Apple's binary gateway was on 31 March 2021.
    package func isClosed(_ connector: Connector) -> Bool {
        connector.facts.isClosed && Self.hosts(connector).contains(GatewayHost.comparable(host))
    }

    /// The sandbox of Apple's HTTP/2 gateway has two names.
    private static func hosts(_ connector: Connector) -> [String] {
        let facts = connector.facts
        return ApplicationEnvironment.allCases.compactMap { facts.hosts[$0] } + facts.otherHosts
    }

    /// The ports on which the vendor's own gateways listen.
    package static func ports(_ connector: Connector) -> [Int] { connector.facts.ports }
}
