import HTTPConnections
import PushCore

/// The servers that health signals may be read from, as `mta.signals.allowedAddresses` lists them.
package struct SignalAllowList: Sendable, Hashable {
    /// Schemes with hosts and ports, in lower case and without usual ports.
    private var servers: Set<String> = []
    /// The addresses, apart from public ones, at which the servers may be.
    private var ranges: [AddressRange] = []
    /// What is wrong with the list; empty if nothing is.
    package private(set) var problems: [String] = []

    /// Reads the list; entries that are not valid allow nothing.
    package init(_ text: String) {
        for word in text.split(whereSeparator: { $0 == "," || $0 == ";" || $0.isWhitespace }) {
            if word.contains("://") {
                if let server = Self.server(of: String(word)), Self.rest(of: String(word)).isEmpty {
                    servers.insert(server)
                    continue
                }
            } else if let range = AddressRange(word) {
                ranges.append(range)
                continue
            }
            problems.append(
                "mta.signals.allowedAddresses has “\(word)”: give servers such as https://metrics.example.com and ranges of addresses such as 10.0.0.0/8"
            )
        }
    }

    /// Whether the server of an address is listed.
    package func allows(_ url: String) -> Bool {
        Self.server(of: url).map { servers.contains($0) } ?? false
    }

    /// Whether a server may be at this address: a name may lead anywhere.
    ///
    /// - Parameter peer: an address and a port, as in `192.0.2.1:443` or `[2001:db8::1]:443`.
    package func allows(peer: String) -> Bool {
        let host = peer.prefix { $0 != "]" }.drop { $0 == "[" }
        let text = peer.hasPrefix("[") ? host : peer.prefix { $0 != ":" }
        guard let address = IPAddress(text) else { return false }
        if ranges.contains(where: { $0.contains(address) }) { return true }
        if address.isIPv4 { return !Self.privateRanges.contains { $0.contains(address) } }
        return Self.globalUnicast.contains { $0.contains(address) } && !Self.embedding.contains { $0.contains(address) }
    }

    /// IPv4 addresses that are not public (RFC 6890, and multicast).
    private static let privateRanges = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3",
    ].compactMap { AddressRange($0) }

    private static let globalUnicast = ["2000::/3"].compactMap { AddressRange($0) }

    /// IPv6 addresses that lead to IPv4 addresses: 6to4 and Teredo.
    private static let embedding = ["2002::/16", "2001::/32"].compactMap { AddressRange($0) }

    /// Scheme, host and port of an address; nil if it has a user name, or is not one of HTTP.
    private static func server(of url: String) -> String? {
        let parts = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { return nil }
        let scheme = parts[0].lowercased()
        var host = parts[1].dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        guard ["http", "https"].contains(scheme), !host.isEmpty, !host.contains("@"), !host.contains("\\") else {
            return nil
        }
        let usualPort = scheme == "https" ? ":443" : ":80"
        if host.hasSuffix(usualPort) { host.removeLast(usualPort.count) }
        return "\(scheme)://\(host)"
    }

    /// What follows the server in an address, apart from a slash at its end.
    private static func rest(of url: String) -> Substring {
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        let rest = url[start...].drop { $0 != "/" && $0 != "?" && $0 != "#" }
        return rest == "/" ? "" : rest
    }
}
