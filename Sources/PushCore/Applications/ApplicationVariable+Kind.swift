/// What values a variable takes.
extension ApplicationVariable.Kind {
    /// The kind with its article, for messages to people.
    public var words: String {
        switch self {
        case .text: "a text"
        case .integer: "a whole number"
        case .number: "a number"
        case .boolean: "true or false"
        case .url: "a URL"
        }
    }

    var example: String {
        switch self {
        case .text: "any text"
        case .integer: "a number such as 42"
        case .number: "a number such as 4.2"
        case .boolean: "true or false"
        case .url: "a URL with its scheme, such as https://example.com/ or shop://cart"
        }
    }

    /// Whether a text can stand for a value of this kind.
    public func accepts(_ text: String) -> Bool {
        switch self {
        case .text: !text.unicodeScalars.contains { $0.value == 0 }
        case .integer: Self.isNumber(text, withFraction: false)
        case .number: Self.isNumber(text, withFraction: true)
        case .boolean: text == "true" || text == "false"
        case .url: Self.isURL(text)
        }
    }

    /// A number as JSON writes it: exactly such a text can stand in a payload without quotes.
    private static func isNumber(_ text: String, withFraction: Bool) -> Bool {
        guard case .number(let digits)? = try? JSONParser.parse(text.utf8), digits == text else { return false }
        let isWhole = digits.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
        return withFraction || isWhole
    }

    /// A scheme (RFC 3986, section 3.1), a colon and something without spaces: deep links have schemes and forms of their own.
    private static func isURL(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = Array(text.utf8[..<colon])
        guard let first = scheme.first, isLetter(first) else { return false }
        let rest = text.utf8[text.utf8.index(after: colon)...]
        // A script is nothing that a device opens.
        guard !["javascript", "vbscript"].contains(String(decoding: scheme, as: UTF8.self).lowercased()) else {
            return false
        }
        return scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0) }
            && !rest.isEmpty && rest.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension ApplicationVariable.Kind {
    /// A default as it stands in content.
    func value(_ text: String) -> JSONValue {
        switch self {
        case .text, .url: .string(text)
        case .integer, .number: .number(text)
        case .boolean: .boolean(text == "true")
        }
    }
}
