/// A text with `{{name}}` and `{{name|default}}` in it; `\{{` stands for two braces that mean nothing.
struct TextTemplate: Sendable, Hashable {
    /// A piece of the text.
    enum Piece: Sendable, Hashable {
        case literal(String)
        case field(PersonalisationField)
    }

    /// What is wrong with a text.
    struct SyntaxError: Error, Hashable {
        let cause: String
        let remedy: String
    }

    /// Longer names are refused: no field has one, and a forgotten `}}` is the likely reason.
    static let longestName = 128

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

    /// Compiles a text.
    init(_ text: String) throws(SyntaxError) {
        // Bytes, not characters: an accent or emoji modifier after a brace makes one character with it.
        var rest = Substring(text).utf8
        var literal = ""
        while let open = rest.firstRange(of: "{{".utf8) {
            let before = rest[..<open.lowerBound]
            if before.last == UInt8(ascii: "\\") {
                literal += String(Substring(before.dropLast())) + "{{"
                rest = rest[open.upperBound...]
                continue
            }
            literal += String(Substring(before))
            let inside = rest[open.upperBound...]
            guard let close = inside.firstRange(of: "}}".utf8) else {
                throw SyntaxError(
                    cause: "a {{ is never closed",
                    remedy: "write }} after the field's name, or \\{{ to show two braces"
                )
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = ""
            pieces.append(.field(try Self.field(Substring(inside[..<close.lowerBound]))))
            rest = inside[close.upperBound...]
        }
        literal += String(Substring(rest))
        if !literal.isEmpty { pieces.append(.literal(literal)) }
    }

    private static func field(_ inside: Substring) throws(SyntaxError) -> PersonalisationField {
        let parts = inside.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
        let name = parts.first ?? ""
        if name.isEmpty {
            throw SyntaxError(cause: "a {{ }} names no field", remedy: "write a field's name between the braces")
        }
        if name.utf8.count > longestName || name.utf8.contains(where: { "{}".utf8.contains($0) || $0 < 0x20 }) {
            throw SyntaxError(
                cause: "what stands between {{ and }} is not a field's name",
                remedy: """
                    close each {{ with }} right after the name, and give a name of at most \(longestName) bytes without \
                    braces
                    """
            )
        }
        return PersonalisationField(name: name, defaultValue: parts.count > 1 ? parts[1] : nil)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
