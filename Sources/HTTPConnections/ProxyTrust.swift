import PushCore

/// Finds the client of a request that may have come through proxies.
package struct ProxyTrust: Sendable, Hashable {
    /// The proxies whose `X-Forwarded-For` is believed.
    package let trusted: [AddressRange]

    /// Trusts addresses of these ranges.
    package init(trusted: [AddressRange]) {
        self.trusted = trusted
    }

    /// Whether an address belongs to a trusted proxy.
    package func trusts(_ address: IPAddress) -> Bool {
        trusted.contains { $0.contains(address) }
    }

    /// The client of a request from a peer with this `X-Forwarded-For`.
    ///
    /// Each proxy appends the address that it received the request from. So the list is read from its end, for as long
    /// as the addresses belong to trusted proxies. What precedes the first untrusted address may have been made up by
    /// its sender.
    package func client(of peer: IPAddress, forwardedFor: String?) -> ForwardedClient {
        guard trusts(peer) else { return ForwardedClient(address: peer, isProxy: false) }
        var client = peer
        for word in (forwardedFor ?? "").split(separator: ",").reversed() {
            // Not an address. The proxy forwards for an unknown client, so the request is not its own.
            guard let address = Self.address(word) else { return ForwardedClient(address: client, isProxy: false) }
            client = address
            guard trusts(address) else { return ForwardedClient(address: address, isProxy: false) }
        }
        return ForwardedClient(address: client, isProxy: true)
    }

    /// Parses an address that may have a port and surrounding blanks.
    private static func address(_ word: Substring) -> IPAddress? {
        let plain = word.drop { $0 == " " }.prefix { $0 != " " }
        if let address = IPAddress(plain) { return address }
        if plain.first == "[" { return IPAddress(plain.dropFirst().prefix { $0 != "]" }) }
        return IPAddress(plain.prefix { $0 != ":" })
    }
}

/// The client of a request, according to the trusted proxies.
package struct ForwardedClient: Sendable, Hashable {
    /// The client, or the last trusted proxy if it named none.
    package let address: IPAddress
    /// Whether the request is a trusted proxy's own; such requests are not limited.
    package let isProxy: Bool
}
