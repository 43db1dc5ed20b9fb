import PushCore

/// A text with the fields `{{name}}` and `{{name|default}}` and with sections: `{{#name}}…{{/name}}` is shown to people
/// who have a value, `{{^name}}…{{/name}}` to people who have none.
///
/// `{{{name}}}` and `{{&name}}` are the same as `{{name}}`, because nothing is escaped for HTML. `{{! … }}` is a
/// comment, and `\{{` is two literal braces. `{{order.id}}` is a value inside an object. A value of only white space
/// counts as no value.
struct TextTemplate: Sendable, Hashable {
    /// A piece of the text.
    enum Piece: Sendable, Hashable {
        case literal(String)
        case field(PersonalisationField)
        /// A whole text that has sections.
        case sections(SectionText)
    }

    /// A syntax error of a text.
    struct SyntaxError: Error, Hashable {
        let cause: String
        let remedy: String
    }

    /// A tag without an end.
    static let openTag = SyntaxError(
        cause: "a {{ is never closed",
        remedy: "write }} after the field's name, or \\{{ to show two braces"
    )

    /// A regular expression, for the database's check, that matches a text whose tags are all closed.
    static let closedPattern =
        #"^(?:\\\{\{|\\(?!\{\{)|[^{\\]|\{(?!\{)|\{\{\{(?:[^}]|\}(?!\}\}))*\}\}\}|\{\{(?!\{)(?:[^}]|\}(?!\}))*\}\})*$"#

    /// The pieces in order.
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

    /// A text without fields, whatever characters it has.
    init(literal text: String) {
        pieces = text.isEmpty ? [] : [.literal(text)]
    }

    static let elementOutside = SyntaxError(
        cause: "{{.}} is outside of a section",
        remedy: "write it between {{#name}} and {{/name}}, where it is the element of the list, or give a field's name"
    )
}
