import NIOCore
import PushCore

/// A range of addresses, `192.0.2.0/24` or `2001:db8::/32`; a single address is a range of one.
package struct AddressRange: Sendable, Hashable {
    private let base: IPAddress
    /// The number of leading bits, of 128, that are compared.
    private let bits: Int

    /// Parses a range; nil if the text is not one.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first), parts.count <= 2 else { return nil }
        let maxLength = address.isIPv4 ? 32 : 128
        var length = maxLength
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...maxLength).contains(given) else { return nil }
            length = given
        }
        bits = length + 128 - maxLength
        base = Self.masked(address, bits)
    }

    /// Parses a list of ranges separated by commas, semicolons or blanks; nil if any of them is invalid.
    package static func list(_ text: String) -> [AddressRange]? {
        let words = text.split { $0 == "," || $0 == " " || $0 == ";" }
        let ranges = words.compactMap { AddressRange($0) }
        return ranges.count == words.count ? ranges : nil
    }

    /// Whether the address is in the range.
    package func contains(_ address: IPAddress) -> Bool {
        Self.masked(address, bits) == base
    }

    /// An address with only this many of its 128 leading bits kept; the others are 0.
    package static func masked(_ address: IPAddress, _ bits: Int) -> IPAddress {
        // A shift by 64 gives 0.
        let high = bits >= 64 ? address.high : address.high & ~(UInt64.max >> UInt64(max(bits, 0)))
        let low = bits >= 128 ? address.low : bits <= 64 ? 0 : address.low & ~(UInt64.max >> UInt64(bits - 64))
        return IPAddress(high: high, low: low)
    }
}

extension IPAddress {
    /// The address of a socket; nil for a Unix socket.
    package init?(_ address: SocketAddress) {
        // From its text, because the module that declares the fields of the system's structure depends on the other
        // imports.
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// The address that identifies a client: an IPv4 address, or the /64 of an IPv6 address.
    package var client: IPAddress { isIPv4 ? self : AddressRange.masked(self, 64) }
}
