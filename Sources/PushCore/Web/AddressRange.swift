/// A range of addresses, `192.0.2.0/24` or `2001:db8::/32`; a single address is a range too.
public struct AddressRange: Sendable, Hashable {
    private let base: IPAddress
    /// Leading bits of the 128 that count.
    private let bits: Int

    /// Reads a range; nil if it is none.
    public init?(_ text: some StringProtocol) {
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
    public static func list(_ text: String) -> [AddressRange]? {
        let words = text.split { $0 == "," || $0 == " " || $0 == ";" }
        let ranges = words.compactMap { AddressRange($0) }
        return ranges.count == words.count ? ranges : nil
    }

    /// Whether the address is in the range.
    public func contains(_ address: IPAddress) -> Bool {
        Self.masked(address, bits) == base
    }

    static func masked(_ address: IPAddress, _ bits: Int) -> IPAddress {
        // A shift by 64 gives 0.
        let high = bits >= 64 ? address.high : address.high & ~(UInt64.max >> UInt64(max(bits, 0)))
        let low = bits >= 128 ? address.low : bits <= 64 ? 0 : address.low & ~(UInt64.max >> UInt64(bits - 64))
        return IPAddress(high: high, low: low)
    }
}
