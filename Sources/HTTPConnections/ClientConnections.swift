import PushCore

/// How many connections each client has, or requests under way through a proxy, so that one cannot have all.
///
/// A client is an address, or the /64 of an IPv6 one. All clients of a /48 together have ``networkFactor`` times as many: who has a
/// whole one for himself has 65,536 clients, and a mobile network has thousands of phones in one.
package struct ClientConnections: Sendable {
    /// How many times the limit of a client its /48 has.
    package static let networkFactor = 2

    /// Connections of one client at once; at least 1.
    package var most: Int { didSet { most = max(1, most) } }
    private var clients: [IPAddress: Int] = [:]
    private var networks: [IPAddress: Int] = [:]

    package init(most: Int) {
        self.most = max(1, most)
    }

    /// Counts one more; false, and not counted, if it is one too many. Each that is counted is given back with ``close(_:)``.
    package mutating func open(_ address: IPAddress) -> Bool {
        let client = address.client
        guard clients[client, default: 0] < most else { return false }
        if !address.isIPv4 {
            let network = AddressRange.masked(address, 48)
            guard networks[network, default: 0] < most * Self.networkFactor else { return false }
            networks[network, default: 0] += 1
        }
        clients[client, default: 0] += 1
        return true
    }

    /// Gives one back.
    package mutating func close(_ address: IPAddress) {
        Self.lower(&clients, address.client)
        if !address.isIPv4 { Self.lower(&networks, AddressRange.masked(address, 48)) }
    }

    /// How many clients have any connection.
    package var count: Int { clients.count }

    private static func lower(_ counts: inout [IPAddress: Int], _ key: IPAddress) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
