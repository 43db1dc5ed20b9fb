import Mustache

/// A text with sections, compiled for Mustache.
///
/// Mustache sees none of the text's own names: each tag is replaced by one with a number, whose meaning ``references`` tells. So no
/// name and no default can be taken for Mustache's own syntax, and values are looked up by number.
struct SectionText: Sendable, Hashable {
    /// What a number in the Mustache template stands for.
    enum Reference: Sendable, Hashable {
        /// A field's value or its default.
        case value(name: Int, defaultValue: String?)
        /// Whether a field has a value, or the list or object that it is.
        case condition(name: Int)
        /// Text that Mustache is not to see.
        case literal(String)
    }

    /// The name of a list's element within the list's section.
    static let element = "."
    /// Deeper nesting is refused: the compiler and each rendering descend by recursion.
    static let deepestNesting = 16
    /// Pieces of one text at most: Mustache's compiler takes a time that grows with the square of their number.
    static let mostPieces = 1_000

    /// The text for Mustache; it says all that two texts can differ in, with ``names`` and ``references``.
    let source: String
    /// The names of all fields, distinct, in the order of their first use.
    let names: [String]
    let references: [Reference]
    let template: MustacheTemplate

    /// Compiles the pieces of a text.
    init(_ tokens: [TextToken]) throws(TextTemplate.SyntaxError) {
        guard tokens.count <= Self.mostPieces else {
            throw TextTemplate.SyntaxError(
                cause: "a text with sections has more than \(Self.mostPieces) tags and texts between them",
                remedy: "make it shorter; no payload takes so much"
            )
        }
        var writer = SectionWriter()
        for (index, token) in tokens.enumerated() { try writer.append(token, isLast: index == tokens.count - 1) }
        if let name = writer.openSections.last {
            throw TextTemplate.SyntaxError(
                cause: "the section {{#\(name)}} is never closed",
                remedy: "write {{/\(name)}} behind its last word"
            )
        }
        source = writer.source
        names = writer.names
        references = writer.references
        do {
            template = try MustacheTemplate(string: writer.source)
        } catch {
            throw TextTemplate.SyntaxError(
                cause: "its sections cannot be compiled",
                remedy: "close each {{#name}} and {{^name}} with {{/name}}, in the reverse order"
            )
        }
    }

    static func == (left: SectionText, right: SectionText) -> Bool {
        left.source == right.source && left.names == right.names && left.references == right.references
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(names)
        hasher.combine(references)
    }
}
