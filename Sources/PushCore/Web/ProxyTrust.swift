/// Whom a request comes from, when proxies may stand in between.
public struct ProxyTrust: Sendable, Hashable {
    /// The proxies whose word is taken.
    public let trusted: [AddressRange]

    /// Trusts the proxies of these ranges.
    public init(trusted: [AddressRange]) {
        self.trusted = trusted
    }

    /// Whether an address is that of a trusted proxy.
    public func trusts(_ address: IPAddress) -> Bool {
        trusted.contains { $0.contains(address) }
    }

    /// The client of a request that came from an address with this `X-Forwarded-For`.
    ///
    /// Each proxy adds whom it heard from at the end, so the list is read from there, for as long as trusted proxies speak: what
    /// stands before the first stranger is that stranger's own invention.
    public func client(of peer: IPAddress, forwardedFor: String?) -> IPAddress {
        guard let forwardedFor, trusts(peer) else { return peer }
        var client = peer
        for word in forwardedFor.split(separator: ",").reversed() {
            guard let address = Self.address(word) else { break }
            client = address
            guard trusts(address) else { break }
        }
        return client
    }

    /// An address, perhaps with a port, and with blanks around it.
    private static func address(_ word: Substring) -> IPAddress? {
        let plain = word.drop { $0 == " " }.prefix { $0 != " " }
        if let address = IPAddress(plain) { return address }
        if plain.first == "[" { return IPAddress(plain.dropFirst().prefix { $0 != "]" }) }
        return IPAddress(plain.prefix { $0 != ":" })
    }
}
