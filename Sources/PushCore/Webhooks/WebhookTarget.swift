/// The address that a webhook posts to, and the rules for addresses.
package struct WebhookTarget: Sendable, Hashable {
    /// The host, in lower case, without a port.
    package let host: String

    /// Nil unless it is an `https` address with a host and without a user name.
    package init?(_ url: String) {
        let scheme = "https://"
        guard url.hasPrefix(scheme) else { return nil }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { return nil }
        let name: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            name = authority[...end]
        } else {
            name = authority.prefix { $0 != ":" }
        }
        guard !name.isEmpty else { return nil }
        host = name.lowercased()
    }

    /// Whether a list of hosts, separated by commas or spaces, has its host.
    package func isIn(_ list: String) -> Bool {
        list.split { $0 == "," || $0 == " " }.contains { $0.lowercased() == host }
    }
}

extension IPAddress {
    /// Whether it is an address of the public Internet: of no private network, of no machine itself, and of no group.
    package var isPublic: Bool {
        guard let four = ipv4Bits else {
            // fc00::/7, fe80::/10, fec0::/10, ff00::/8.
            let isPrivate = high >> 57 == 0x7E || high >> 54 == 0x3FA || high >> 54 == 0x3FB || high >> 56 == 0xFF
            return high != 0 && !isPrivate
        }
        return !Self.reserved.contains { four >> (32 - $0.length) == $0.bits >> (32 - $0.length) }
    }

    /// The IPv4 address that it is or leads to, also by NAT64 and 6to4.
    private var ipv4Bits: UInt32? {
        if isIPv4 || high == 0x0064_FF9B_0000_0000 && low >> 32 == 0 { return UInt32(truncatingIfNeeded: low) }
        return high >> 48 == 0x2002 ? UInt32(truncatingIfNeeded: high >> 16) : nil
    }

    /// IPv4 networks that are not public (RFC 6890).
    private static let reserved: [(bits: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xC633_6400, 24),
        (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
    ]
}
