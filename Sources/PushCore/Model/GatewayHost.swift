/// The host of a gateway: a DNS name or an IP address.
///
/// It has one form, as two ways of writing the same host would be two for everything that compares them: small letters, no dot
/// at the end of a name, no brackets around an IPv6 address.
public struct GatewayHost: Sendable, Hashable {
    /// The host, ready for a resolver.
    public let text: String

    /// Reads what a person or a table says.
    ///
    /// - Throws: ``GatewayHostError`` that says what is wrong and, where it can be seen, what was meant.
    public init(_ given: String) throws(GatewayHostError) {
        guard let text = Self.form(given) else { throw GatewayHostError(Self.problem(given)) }
        self.text = text
    }

    /// What is to be compared with other hosts: the one form of what is a host, and small letters of what is none.
    public static func comparable(_ given: String) -> String { form(given) ?? given.lowercased() }

    /// A name without its last dot, and a label (RFC 1035 section 2.3.4).
    private static let longestName = 253
    private static let longestLabel = 63
    /// The groups of an IPv6 address (RFC 4291 section 2.2).
    private static let groups = 8

    private static func form(_ given: String) -> String? {
        // Others than ASCII's have small letters too, and no place in DNS.
        guard given.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = given.lowercased()
        if text.hasPrefix("["), text.hasSuffix("]"), text.utf8.count > 2 {
            let inner = text.dropFirst().dropLast()
            return isIPv6(inner) ? String(inner) : nil
        }
        if text.contains(":") { return isIPv6(text[...]) ? text : nil }
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        guard (1...longestName).contains(name.utf8.count) else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel) else { return nil }
        // A resolver takes 127.1 and 010.0.0.1 for addresses, each in its own way.
        if endsInNumber(labels) { return isIPv4(name) ? String(name) : nil }
        return String(name)
    }

    /// Letters, digits and hyphens; underscores stand in names of networks of containers.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...longestLabel).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// As browsers tell addresses from names (WHATWG URL, "ends in a number"): no top-level domain is one.
    private static func endsInNumber(_ labels: [Substring]) -> Bool {
        guard let last = labels.last, !last.isEmpty else { return false }
        return last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                // With a zero before it, it would be octal to some.
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

    /// The groups of a piece of an IPv6 address; nil if they are none.
    private static func count(of text: Substring, mayEndInIPv4: Bool) -> Int? {
        guard !text.isEmpty else { return 0 }
        let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = pieces.last else { return nil }
        let isMixed = mayEndInIPv4 && isIPv4(last)
        let plain = isMixed ? pieces.dropLast() : pieces[...]
        let areSound = plain.allSatisfy { piece in
            (1...4).contains(piece.utf8.count) && piece.utf8.allSatisfy { HexDigit.value($0) != nil }
        }
        // An IPv4 address stands for two.
        return areSound ? plain.count + (isMixed ? 2 : 0) : nil
    }

    // MARK: What is wrong

    private static func problem(_ given: String) -> String {
        let meant = meant(given).map { ", \($0)" } ?? ""
        let alone = "give the name or the IP address alone\(meant)"
        if given.isEmpty { return "it is empty: give a DNS name or an IP address" }
        if given.contains("://") { return "it begins with a scheme, as an address on the web does: \(alone)" }
        if given.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            return "it has blanks or control characters: \(alone)"
        }
        if given.contains("/") { return "it has a path: \(alone)" }
        if hasPort(given) { return "it has a port, which is said apart: \(alone)" }
        if !given.utf8.allSatisfy({ $0 < 0x80 }) {
            return "it has letters that DNS does not have: write the name as DNS has it, with xn--"
        }
        if endsInNumber(given.lowercased().split(separator: ".")) {
            return "it ends like an IPv4 address and is none: four numbers from 0 to 255, without zeros before them"
        }
        return
            "it is neither a DNS name (letters, digits and hyphens between dots) nor an IP address (192.0.2.1, 2001:db8::1)"
    }

    private static func hasPort(_ given: String) -> Bool {
        given.contains("]:") || given.split(separator: ":", omittingEmptySubsequences: false).count == 2
    }

    /// The host in an address on the web, or in what has blanks around it; nil if there is none.
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

/// What was given as the host of a gateway is none.
public struct GatewayHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it and what to give instead, without a name for it before.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
