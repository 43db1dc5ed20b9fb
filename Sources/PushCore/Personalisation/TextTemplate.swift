/// A text with `{{name}}` and `{{name|default}}` in it, and with sections: `{{#name}}…{{/name}}` for those who have a value, and
/// `{{^name}}…{{/name}}` for those who have none.
///
/// `{{{name}}}` and `{{&name}}` are the same as `{{name}}`, as nothing is escaped for HTML; `{{! … }}` is a comment;
/// `\{{` stands for two braces that mean nothing.
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

    /// Compiles a text.
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
