import Gateways
import PushCore

/// Checks of an account's address that need no connection.
enum AccountAddress {
    /// What is wrong with a host as it was typed, for the option that it was given with; nil if nothing is.
    static func problem(_ host: String, option: String) -> String? {
        // Who copies from Adobe's external account has this address at hand.
        guard ConnectorAlias.connector(url: host) == nil else {
            return "\(option) is Adobe Campaign's address of a connector: give it with --url."
        }
        do {
            _ = try GatewayHost(host)
            return nil
        } catch {
            return "\(option) is no host: \(error)."
        }
    }

    /// What is wrong with an address of Apple's or Google's own gateways; nil for other hosts, which are stand-ins and proxies.
    static func problem(_ connector: Connector, host: String, port: Int) -> String? {
        let host = GatewayHost.comparable(host)
        guard let owner = Connector.allCases.first(where: { hosts($0).contains(host) }) else { return nil }
        guard hosts(connector).contains(host) else {
            return "\(host) is a gateway of connector \(owner.rawValue), and the account has \(connector.rawValue)"
        }
        let ports = ports(connector)
        // That there are no other ports at all is said by the table.
        guard !ports.contains(port), (1...65_535).contains(port) else { return nil }
        return "\(host) listens on \(ports.map(String.init).joined(separator: " and ")), not on \(port)"
    }

    /// Whether an address is the gateway's own, of whatever environment, so that another connector brings another address.
    static func environment(_ connector: Connector, host: String, port: Int) -> ApplicationEnvironment? {
        ApplicationEnvironment.allCases.reversed().first { environment in
            guard let address = GatewayAddress.standard(connector, environment) else { return false }
            return address.host == GatewayHost.comparable(host)
                && (address.port == port || ports(connector).contains(port))
        }
    }

    /// Whether two connectors speak to different gateways, so that a stand-in for the one is none for the other.
    static func isElsewhere(_ connector: Connector, than other: Connector) -> Bool {
        GatewayAddress.standard(connector, .production) != GatewayAddress.standard(other, .production)
    }

    /// Apple's HTTP/2 gateway has its sandbox under two names.
    private static func hosts(_ connector: Connector) -> [String] {
        let standard = ApplicationEnvironment.allCases.compactMap { GatewayAddress.standard(connector, $0)?.host }
        return connector == .iosHTTP2 ? standard + ["api.development.push.apple.com"] : standard
    }

    /// 2197 is for networks that let nothing but 443's web traffic through (Apple, "Sending notification requests to APNs").
    private static func ports(_ connector: Connector) -> [Int] {
        switch connector {
        case .iosHTTP2: [443, 2197]
        case .iosBinary: [2195]
        case .androidV1, .androidV2: [443]
        }
    }

    /// What to know of a connector, told when an account gets it.
    static func note(_ connector: Connector, host: String) -> String? {
        guard connector == .iosBinary, hosts(.iosBinary).contains(GatewayHost.comparable(host)) else { return nil }
        return
            "Apple closed its binary gateway on 31 March 2021: --host names a gateway that stands in for it, or use ios-http2."
    }
}
