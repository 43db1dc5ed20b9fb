/// The host of a gateway: a DNS name or an IP address.
///
/// Each host has one form, so that it compares equal however it was written: lower case, no dot at the end of a name,
/// no brackets around an IPv6 address.
package struct GatewayHost: Sendable, Hashable {
    /// The host, ready for a resolver.
    package let text: String

    /// Parses a host given by a person or a table.
    ///
    /// - Throws: ``GatewayHostError``, which says what is wrong and, if possible, what was meant.
    package init(_ given: String) throws(GatewayHostError) {
        guard let text = Self.form(given) else { throw GatewayHostError(Self.problem(given)) }
        self.text = text
    }

    /// A text for comparing hosts: the one form of a valid host, or the lower-case text of an invalid one.
    package static func comparable(_ given: String) -> String { form(given) ?? given.lowercased() }

    /// The maximum length of a name without its last dot, and of a label, in bytes (RFC 1035 section 2.3.4).
    private static let maxNameLength = 253
    private static let maxLabelLength = 63
    /// The number of groups of an IPv6 address (RFC 4291 section 2.2).
    private static let groups = 8

    private static func form(_ given: String) -> String? {
        // Lowercasing may turn other letters into ASCII ones, and DNS has only ASCII.
        guard given.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = given.lowercased()
        if text.hasPrefix("["), text.hasSuffix("]"), text.utf8.count > 2 {
            let inner = text.dropFirst().dropLast()
            return isIPv6(inner) ? String(inner) : nil
        }
        if text.contains(":") { return isIPv6(text[...]) ? text : nil }
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        guard (1...maxNameLength).contains(name.utf8.count) else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel) else { return nil }
        // Resolvers read 127.1 and 010.0.0.1 as addresses, and not all in the same way.
        if endsInNumber(labels) { return isIPv4(name) ? String(name) : nil }
        return String(name)
    }

    /// Letters, digits, hyphens, and underscores, which names in container networks may have.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...maxLabelLength).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Tells addresses from names as browsers do (WHATWG URL, "ends in a number"): no top-level domain is a number.
    private static func endsInNumber(_ labels: [Substring]) -> Bool {
        guard let last = labels.last, !last.isEmpty else { return false }
        return last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                // Some resolvers read a number with a leading zero as octal.
                part.utf8.allSatisfy(isDigit) && (1...3).contains(part.utf8.count) && UInt8(part) != nil
                    && (part == "0" || !part.hasPrefix("0"))
            }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        guard let gap = text.firstRange(of: "::") else { return count(of: text, mayEndInIPv4: true) == groups }
        guard let head = count(of: text[..<gap.lowerBound], mayEndInIPv4: false),
            let tail = count(of: text[gap.upperBound...], mayEndInIPv4: true)
        else { return false }
        return head + tail < groups
    }

    /// The number of groups in a piece of an IPv6 address; nil if the piece is invalid.
    private static func count(of text: Substring, mayEndInIPv4: Bool) -> Int? {
        guard !text.isEmpty else { return 0 }
        let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = pieces.last else { return nil }
        let isMixed = mayEndInIPv4 && isIPv4(last)
        let plain = isMixed ? pieces.dropLast() : pieces[...]
        let areSound = plain.allSatisfy { piece in
            (1...4).contains(piece.utf8.count) && piece.utf8.allSatisfy { HexDigit.value($0) != nil }
        }
        // An IPv4 address counts as two groups.
        return areSound ? plain.count + (isMixed ? 2 : 0) : nil
    }

    // MARK: What is wrong

    private static func problem(_ given: String) -> String {
        let meant = meant(given).map { ", \($0)" } ?? ""
        let alone = "give the name or the IP address alone\(meant)"
        if given.isEmpty { return "it is empty: give a DNS name or an IP address" }
        if given.contains("://") { return "it begins with a scheme, as a URL does: \(alone)" }
        if given.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            return "it has blanks or control characters: \(alone)"
        }
        if given.contains("/") { return "it has a path: \(alone)" }
        if hasPort(given) { return "it has a port, which is given separately: \(alone)" }
        if !given.utf8.allSatisfy({ $0 < 0x80 }) {
            return "it has characters that DNS does not allow: give the name in its DNS form, with xn--"
        }
        if endsInNumber(given.lowercased().split(separator: ".")) {
            return "it ends like an IPv4 address but is not one: give four numbers from 0 to 255 without leading zeros"
        }
        return
            "it is neither a DNS name (letters, digits and hyphens between dots) nor an IP address (192.0.2.1, 2001:db8::1)"
    }

    private static func hasPort(_ given: String) -> Bool {
        given.contains("]:") || given.split(separator: ":", omittingEmptySubsequences: false).count == 2
    }

    /// The host in a URL or in a text with blanks around it; nil if there is none.
    private static func meant(_ given: String) -> String? {
        var rest = given[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let user = rest.lastIndex(of: "@") { rest = rest[rest.index(after: user)...] }
        rest = rest.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            rest = rest[...end]
        } else if hasPort(String(rest)) {
            rest = rest.prefix { $0 != ":" }
        }
        return form(String(rest))
    }
}

/// Why a text is not a valid gateway host.
package struct GatewayHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it and what to give instead; the caller puts the name of the value before it.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
