import PushCore

/// A token of a personalised text.
enum TextToken: Sendable, Hashable {
    case literal(String)
    case field(PersonalisationField)
    /// `{{#name}}`.
    case open(String)
    /// `{{^name}}`.
    case openInverted(String)
    /// `{{/name}}`.
    case close(String)

    /// Longer names are refused: no field has one, and the likely cause is a missing `}}`.
    static let maxNameLength = 128

    /// Whether the token begins or ends a section.
    var belongsToSection: Bool {
        switch self {
        case .literal, .field: false
        case .open, .openInverted, .close: true
        }
    }

    /// Splits a text into tokens. No literal is empty, and no literal follows another.
    static func tokens(of text: String) throws(TextTemplate.SyntaxError) -> [TextToken] {
        // Bytes, not characters: a brace and a combining accent or emoji modifier after it are one character.
        var rest = Substring(text).utf8
        var tokens: [TextToken] = []
        var literal = ""
        while let open = rest.firstRange(of: "{{".utf8) {
            let before = rest[..<open.lowerBound]
            if before.last == UInt8(ascii: "\\") {
                literal += String(Substring(before.dropLast())) + "{{"
                rest = rest[open.upperBound...]
                continue
            }
            literal += String(Substring(before))
            let tag = try tag(in: rest[open.upperBound...])
            rest = tag.rest
            guard let token = try token(Substring(tag.inside)) else { continue }
            if !literal.isEmpty { tokens.append(.literal(literal)) }
            literal = ""
            tokens.append(token)
        }
        literal += String(Substring(rest))
        if !literal.isEmpty { tokens.append(.literal(literal)) }
        return tokens
    }

    private typealias Bytes = Substring.UTF8View

    /// The content of a tag that has just been opened, and the text after it.
    private static func tag(in text: Bytes) throws(TextTemplate.SyntaxError) -> (inside: Bytes, rest: Bytes) {
        let isTriple = text.first == UInt8(ascii: "{")
        let inside = isTriple ? text.dropFirst() : text
        guard let close = inside.firstRange(of: (isTriple ? "}}}" : "}}").utf8) else {
            throw TextTemplate.openTag
        }
        return (inside[..<close.lowerBound], inside[close.upperBound...])
    }

    /// The token of a tag; nil for a comment.
    private static func token(_ inside: Substring) throws(TextTemplate.SyntaxError) -> TextToken? {
        let inside = trimmed(inside)
        // Unicode scalars, for the reason above.
        let operand = { String(inside.unicodeScalars.dropFirst()) }
        switch inside.unicodeScalars.first {
        case "!": return nil
        case "#": return .open(try name(operand()))
        case "^": return .openInverted(try name(operand()))
        case "/": return .close(try name(operand()))
        case "&": return .field(try field(operand()))
        case .some(let first) where "><=$%".unicodeScalars.contains(first):
            throw TextTemplate.SyntaxError(
                cause: "{{\(first) is not supported",
                remedy: "write {{name}}, {{name|default}}, {{#name}}…{{/name}} or {{^name}}…{{/name}}"
            )
        default: return .field(try field(inside))
        }
    }

    private static func field(_ inside: String) throws(TextTemplate.SyntaxError) -> PersonalisationField {
        let parts = inside.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        return PersonalisationField(
            name: try name(String(parts.first ?? "")),
            defaultValue: parts.count > 1 ? trimmed(parts[1]) : nil
        )
    }

    private static func name(_ text: String) throws(TextTemplate.SyntaxError) -> String {
        let name = trimmed(text[...])
        if name.isEmpty {
            throw TextTemplate.SyntaxError(
                cause: "a {{ }} names no field",
                remedy: "write a field's name between the braces"
            )
        }
        if name.utf8.count > maxNameLength || name.utf8.contains(where: { "{}".utf8.contains($0) || $0 < 0x20 }) {
            throw TextTemplate.SyntaxError(
                cause: "the text between {{ and }} is not a field name",
                remedy: """
                    close each {{ with }} right after the name, and give a name of at most \(maxNameLength) bytes without \
                    braces
                    """
            )
        }
        return name
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
