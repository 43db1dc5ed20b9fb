import NIOCore
import PushCore

/// A range of addresses, `192.0.2.0/24` or `2001:db8::/32`; a single address is a range too.
package struct AddressRange: Sendable, Hashable {
    private let base: IPAddress
    /// Leading bits of the 128 that count.
    private let bits: Int

    /// Reads a range; nil if it is none.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first), parts.count <= 2 else { return nil }
        let most = address.isIPv4 ? 32 : 128
        var length = most
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...most).contains(given) else { return nil }
            length = given
        }
        bits = length + 128 - most
        base = Self.masked(address, bits)
    }

    /// Reads a list of ranges, separated with commas or blanks; nil if one of them is none.
    package static func list(_ text: String) -> [AddressRange]? {
        let words = text.split { $0 == "," || $0 == " " || $0 == ";" }
        let ranges = words.compactMap { AddressRange($0) }
        return ranges.count == words.count ? ranges : nil
    }

    /// Whether the address is in the range.
    package func contains(_ address: IPAddress) -> Bool {
        Self.masked(address, bits) == base
    }

    /// An address without all but so many leading bits of its 128.
    package static func masked(_ address: IPAddress, _ bits: Int) -> IPAddress {
        // A shift by 64 gives 0.
        let high = bits >= 64 ? address.high : address.high & ~(UInt64.max >> UInt64(max(bits, 0)))
        let low = bits >= 128 ? address.low : bits <= 64 ? 0 : address.low & ~(UInt64.max >> UInt64(bits - 64))
        return IPAddress(high: high, low: low)
    }
}

/// Whom a request comes from, when proxies may stand in between.
package struct ProxyTrust: Sendable, Hashable {
    /// The proxies whose word is taken.
    package let trusted: [AddressRange]

    /// Trusts addresses of these ranges.
    package init(trusted: [AddressRange]) {
        self.trusted = trusted
    }

    /// Whether an address is that of a trusted proxy.
    package func trusts(_ address: IPAddress) -> Bool {
        trusted.contains { $0.contains(address) }
    }

    /// The client of a request that came from an address with this `X-Forwarded-For`.
    ///
    /// Each proxy adds whom it heard from at the end, so the list is read from there, for as long as trusted proxies speak: what
    /// stands before the first stranger is that stranger's own invention.
    package func client(of peer: IPAddress, forwardedFor: String?) -> ForwardedClient {
        guard trusts(peer) else { return ForwardedClient(address: peer, isProxy: false) }
        var client = peer
        for word in (forwardedFor ?? "").split(separator: ",").reversed() {
            // A name, or nonsense: in whose name the proxy speaks cannot be told, but it is not its own.
            guard let address = Self.address(word) else { return ForwardedClient(address: client, isProxy: false) }
            client = address
            guard trusts(address) else { return ForwardedClient(address: address, isProxy: false) }
        }
        return ForwardedClient(address: client, isProxy: true)
    }

    /// An address, perhaps with a port, and with blanks around it.
    private static func address(_ word: Substring) -> IPAddress? {
        let plain = word.drop { $0 == " " }.prefix { $0 != " " }
        if let address = IPAddress(plain) { return address }
        if plain.first == "[" { return IPAddress(plain.dropFirst().prefix { $0 != "]" }) }
        return IPAddress(plain.prefix { $0 != ":" })
    }
}

/// Whom a request comes from, as trusted proxies say.
package struct ForwardedClient: Sendable, Hashable {
    /// The client, or the last trusted proxy if that named none.
    package let address: IPAddress
    /// Whether a trusted proxy asks in its own name: its requests have no limit.
    package let isProxy: Bool
}

extension IPAddress {
    /// The address of a socket; nil for one of the file system.
    package init?(_ address: SocketAddress) {
        // By its text: which module declares the fields of the system's structure depends on what else is imported.
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// What stands for one client: the address, or the /64 of an IPv6 one.
    package var client: IPAddress { isIPv4 ? self : AddressRange.masked(self, 64) }
}
