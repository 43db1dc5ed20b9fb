/// An IPv4 or IPv6 address.
///
/// An IPv4-mapped IPv6 address (`::ffff:1.2.3.4`) is the same as the IPv4 address.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address as 128 bits; an IPv4 address is in `::ffff:0:0/96`.
    package let high: UInt64
    package let low: UInt64

    private static let mappedPrefix: UInt64 = 0x0000_FFFF_0000_0000

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The IPv4 address with these 32 bits; the first number is the most significant byte.
    package init(ipv4 bits: UInt32) {
        self.init(high: 0, low: Self.mappedPrefix | UInt64(bits))
    }

    /// Whether it is an IPv4 address.
    package var isIPv4: Bool { high == 0 && low & 0xFFFF_FFFF_0000_0000 == Self.mappedPrefix }

    /// Parses an address and drops a zone after a `%`; nil if the text is not an address.
    package init?(_ text: some StringProtocol) {
        let plain = Array(text.utf8.prefix { $0 != UInt8(ascii: "%") })
        if let four = Self.ipv4(plain[...]) {
            self.init(high: 0, low: Self.mappedPrefix | UInt64(four))
        } else if let groups = Self.ipv6(plain) {
            let words = groups.map { UInt64($0) }
            self.init(
                high: words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3],
                low: words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7]
            )
        } else {
            return nil
        }
    }

    /// Four numbers from 0 to 255 without leading zeros, which some parsers read as octal.
    private static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        guard text.count <= 15 else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            let number = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 0x30) }
            guard number <= 255 else { return nil }
            value = value << 8 | number
        }
        return value
    }

    /// Eight groups, with `::` for omitted ones and optionally an IPv4 address at the end (RFC 4291, section 2.2).
    private static func ipv6(_ text: [UInt8]) -> [UInt16]? {
        guard (2...45).contains(text.count) else { return nil }
        let gap = text.indices.dropLast().first {
            text[$0] == UInt8(ascii: ":") && text[$0 + 1] == UInt8(ascii: ":")
        }
        guard let gap else {
            guard let groups = groups(text[...]), groups.count == 8 else { return nil }
            return groups
        }
        guard let before = groups(text[..<gap], endsInIPv4: false), let after = groups(text[(gap + 2)...]),
            before.count + after.count <= 7
        else { return nil }
        return before + [UInt16](repeating: 0, count: 8 - before.count - after.count) + after
    }

    private static func groups(_ text: ArraySlice<UInt8>, endsInIPv4: Bool = true) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (place, part) in parts.enumerated() {
            if endsInIPv4, place == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let four = ipv4(part) else { return nil }
                groups += [UInt16(four >> 16), UInt16(truncatingIfNeeded: four)]
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for byte in part {
                guard let digit = HexDigit.value(byte) else { return nil }
                value = value << 4 | UInt16(digit)
            }
            groups.append(value)
        }
        return groups
    }

    /// The usual text form: four numbers, or eight hexadecimal groups without leading zeros. PostgreSQL's `inet` reads
    /// both.
    package var description: String {
        if isIPv4 {
            return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
        }
        return [high >> 48, high >> 32, high >> 16, high, low >> 48, low >> 32, low >> 16, low]
            .map { String($0 & 0xFFFF, radix: 16) }.joined(separator: ":")
    }
}
