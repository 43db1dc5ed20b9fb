import PushCore

/// Counts the connections of each client, or its current requests through a proxy, so that no client can take them all.
///
/// A client is an IPv4 address or an IPv6 /64. All clients of a /48 together may have ``networkFactor`` times the limit
/// of one. The owner of a whole /48 has 65,536 clients; a mobile network has thousands of phones in one.
package struct ClientConnections: Sendable {
    /// The limit of a /48 as a multiple of a client's limit.
    package static let networkFactor = 2

    /// The maximum number of concurrent connections of a client; at least 1.
    package var limit: Int { didSet { limit = max(1, limit) } }
    private var clients: [IPAddress: Int] = [:]
    private var networks: [IPAddress: Int] = [:]

    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Counts a connection; false, without counting it, if the client is at its limit. Release each counted one with
    /// ``close(_:)``.
    package mutating func open(_ address: IPAddress) -> Bool {
        let client = address.client
        guard clients[client, default: 0] < limit else { return false }
        if !address.isIPv4 {
            let network = AddressRange.masked(address, 48)
            guard networks[network, default: 0] < limit * Self.networkFactor else { return false }
            networks[network, default: 0] += 1
        }
        clients[client, default: 0] += 1
        return true
    }

    /// Releases a connection.
    package mutating func close(_ address: IPAddress) {
        Self.lower(&clients, address.client)
        if !address.isIPv4 { Self.lower(&networks, AddressRange.masked(address, 48)) }
    }

    /// The number of clients with a connection.
    package var count: Int { clients.count }

    private static func lower(_ counts: inout [IPAddress: Int], _ key: IPAddress) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
