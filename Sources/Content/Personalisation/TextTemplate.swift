import PushCore

/// A text with `{{name}}` and `{{name|default}}` in it, and with sections: `{{#name}}…{{/name}}` for those who have a value, and
/// `{{^name}}…{{/name}}` for those who have none.
///
/// `{{{name}}}` and `{{&name}}` are the same as `{{name}}`, as nothing is escaped for HTML; `{{! … }}` is a comment;
/// `\{{` stands for two braces that mean nothing. `{{order.id}}` reaches into an object. White space only is no value.
struct TextTemplate: Sendable, Hashable {
    /// A piece of the text.
    enum Piece: Sendable, Hashable {
        case literal(String)
        case field(PersonalisationField)
        /// The whole of a text that has sections.
        case sections(SectionText)
    }

    /// What is wrong with a text.
    struct SyntaxError: Error, Hashable {
        let cause: String
        let remedy: String
    }

    /// The pieces in their order.
    private(set) var pieces: [Piece] = []

    /// Whether the text is the same for everyone.
    var isLiteral: Bool {
        pieces.allSatisfy { if case .literal = $0 { true } else { false } }
    }

    /// The text when it is the same for everyone, else nil.
    var literalText: String? {
        isLiteral ? pieces.reduce(into: "") { if case .literal(let text) = $1 { $0 += text } } : nil
    }

    init(_ text: String) throws(SyntaxError) {
        let tokens = try TextToken.tokens(of: text)
        if tokens.contains(where: \.belongsToSection) {
            pieces = [.sections(try SectionText(tokens))]
            return
        }
        for token in tokens {
            switch token {
            case .literal(let text): pieces.append(.literal(text))
            case .field(let field):
                guard field.name != SectionText.element else { throw Self.elementOutside }
                pieces.append(.field(field))
            case .open, .openInverted, .close: break
            }
        }
    }

    /// A text that means nothing but itself.
    init(literal text: String) {
        pieces = text.isEmpty ? [] : [.literal(text)]
    }

    static let elementOutside = SyntaxError(
        cause: "{{.}} stands outside of a section",
        remedy: "write it between {{#name}} and {{/name}}, where it is the element of the list, or give a field's name"
    )
}

/// A piece of a personalised text as it is written.
enum TextToken: Sendable, Hashable {
    case literal(String)
    case field(PersonalisationField)
    /// `{{#name}}`.
    case open(String)
    /// `{{^name}}`.
    case openInverted(String)
    /// `{{/name}}`.
    case close(String)

    /// Longer names are refused: no field has one, and a forgotten `}}` is the likely reason.
    static let longestName = 128

    /// Whether it begins or ends a section.
    var belongsToSection: Bool {
        switch self {
        case .literal, .field: false
        case .open, .openInverted, .close: true
        }
    }

    /// Cuts a text into its pieces; no two literals follow one another, and none is empty.
    static func tokens(of text: String) throws(TextTemplate.SyntaxError) -> [TextToken] {
        // Bytes, not characters: an accent or emoji modifier after a brace makes one character with it.
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

    /// What stands inside of a tag that has just been opened, and what follows it.
    private static func tag(in text: Bytes) throws(TextTemplate.SyntaxError) -> (inside: Bytes, rest: Bytes) {
        let isTriple = text.first == UInt8(ascii: "{")
        let inside = isTriple ? text.dropFirst() : text
        guard let close = inside.firstRange(of: (isTriple ? "}}}" : "}}").utf8) else {
            throw TextTemplate.SyntaxError(
                cause: "a {{ is never closed",
                remedy: "write }} after the field's name, or \\{{ to show two braces"
            )
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
        if name.utf8.count > longestName || name.utf8.contains(where: { "{}".utf8.contains($0) || $0 < 0x20 }) {
            throw TextTemplate.SyntaxError(
                cause: "what stands between {{ and }} is not a field's name",
                remedy: """
                    close each {{ with }} right after the name, and give a name of at most \(longestName) bytes without \
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

/// A field that a content uses as `{{name}}` or `{{name|default}}`.
public struct PersonalisationField: Sendable, Hashable {
    public let name: String
    /// The default that its first use gives; nil when it gives none. Each use obeys its own default.
    public let defaultValue: String?

    public init(name: String, defaultValue: String? = nil) {
        self.name = name
        self.defaultValue = defaultValue
    }
}
