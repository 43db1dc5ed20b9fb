import Mustache
import PushCore

/// A text with sections, compiled for Mustache.
///
/// Mustache never sees the text's own names: each tag is replaced by one with a number, and ``references`` gives the
/// meaning of the number. So no name or default can be mistaken for Mustache's own syntax, and values are looked up by
/// number.
struct SectionText: Sendable, Hashable {
    /// What a number in the Mustache template stands for.
    enum Reference: Sendable, Hashable {
        /// A field's value or its default.
        case value(name: Int, defaultValue: String?)
        /// The condition of a section: whether a field has a value, or the list or object that is its value.
        case condition(name: Int)
        /// Text that is hidden from Mustache.
        case literal(String)
    }

    /// The name of a list's element within the list's section.
    static let element = "."
    /// Deeper nesting is refused: the compiler and each rendering descend by recursion.
    static let deepestNesting = 16
    /// The maximum number of pieces of one text: the time that Mustache's compiler takes grows with the square of it.
    static let maxPieces = 1_000

    /// The text for Mustache. Together with ``names`` and ``references`` it identifies the text.
    let source: String
    /// The distinct names of all fields, in the order of first use.
    let names: [String]
    /// The path that each name is, nil for a name without one.
    let paths: [FieldPath?]
    let references: [Reference]
    let template: MustacheTemplate

    /// Compiles the pieces of a text.
    init(_ tokens: [TextToken]) throws(TextTemplate.SyntaxError) {
        guard tokens.count <= Self.maxPieces else {
            throw TextTemplate.SyntaxError(
                cause: "a text with sections has more than \(Self.maxPieces) tags and texts between them",
                remedy: "make it shorter; no payload takes so much"
            )
        }
        var writer = SectionWriter()
        for (index, token) in tokens.enumerated() { try writer.append(token, isLast: index == tokens.count - 1) }
        if let name = writer.openSections.last {
            throw TextTemplate.SyntaxError(
                cause: "the section {{#\(name)}} is never closed",
                remedy: "write {{/\(name)}} after its last word"
            )
        }
        source = writer.source
        names = writer.names
        paths = writer.names.map(FieldPath.init)
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

/// Writes the Mustache text of a text with sections.
struct SectionWriter {
    /// Longer texts are looked up, so they count against the limit of a rendering each time a list's section repeats
    /// them.
    private static let maxPlainTextLength = 64

    private(set) var source = ""
    private(set) var names: [String] = []
    private(set) var references: [SectionText.Reference] = []
    /// The names of the open sections, innermost last.
    private(set) var openSections: [String] = []
    private var openNumbers: [Int] = []
    private var indexes: [String: Int] = [:]
    private var numbers: [SectionText.Reference: Int] = [:]

    mutating func append(_ token: TextToken, isLast: Bool) throws(TextTemplate.SyntaxError) {
        switch token {
        case .literal(let text):
            append(text, isLast: isLast)
        case .field(let field):
            try append(field)
        case .open(let name):
            try open(name, mark: "#")
        case .openInverted(let name):
            try open(name, mark: "^")
        case .close(let name):
            try close(name)
        }
    }

    private mutating func append(_ text: String, isLast: Bool) {
        // Mustache drops the spaces of a last line that has nothing else.
        let endsBlank = isLast && Self.blankLine(endOf: text).last.map { $0 == " " || $0 == "\t" } == true
        if text.utf8.count <= Self.maxPlainTextLength, !endsBlank, Self.isPlain(text) {
            source += text
            return
        }
        // Mustache must still see the white space between a tag and the start or end of its line: if a tag is alone on
        // a line, Mustache removes the line.
        let head = Self.blankLine(beginOf: text)
        let rest = text[head.endIndex...]
        let tail = isLast ? rest[rest.endIndex...] : Self.blankLine(endOf: String(rest))
        source += "\(head){{{\(number(.literal(String(rest.dropLast(tail.count)))))}}}\(tail)"
    }

    /// The spaces at the start of a text and the line feed after them; empty if the text starts differently.
    private static func blankLine(beginOf text: String) -> Substring {
        let spaces = text.prefix { $0 == " " || $0 == "\t" }
        guard let end = text[spaces.endIndex...].first, end == "\n" || end == "\r\n" else { return text.prefix(0) }
        return text[...spaces.endIndex]
    }

    /// The last line feed of a text and the spaces after it; empty if the text ends differently.
    private static func blankLine(endOf text: String) -> Substring {
        guard let newline = text.lastIndex(where: { $0 != " " && $0 != "\t" }),
            text[newline] == "\n" || text[newline] == "\r\n"
        else { return text.suffix(0) }
        return text[newline...]
    }

    private mutating func append(_ field: PersonalisationField) throws(TextTemplate.SyntaxError) {
        if field.name == SectionText.element {
            guard !openSections.isEmpty else { throw TextTemplate.elementOutside }
            source += "{{{.}}}"
            return
        }
        let name = index(of: field.name)
        source += "{{{\(number(.value(name: name, defaultValue: field.defaultValue)))}}}"
    }

    private mutating func open(_ name: String, mark: String) throws(TextTemplate.SyntaxError) {
        guard openSections.count < SectionText.deepestNesting else {
            throw TextTemplate.SyntaxError(
                cause: "sections are nested more than \(SectionText.deepestNesting) deep",
                remedy: "nest fewer sections"
            )
        }
        guard name != SectionText.element else {
            throw TextTemplate.SyntaxError(
                cause: "{{.}} cannot begin a section",
                remedy: "give the name of a field between {{# and }}"
            )
        }
        let number = number(.condition(name: index(of: name)))
        openSections.append(name)
        openNumbers.append(number)
        source += "{{\(mark)\(number)}}"
    }

    private mutating func close(_ name: String) throws(TextTemplate.SyntaxError) {
        guard let open = openSections.popLast(), let number = openNumbers.popLast() else {
            throw TextTemplate.SyntaxError(
                cause: "{{/\(name)}} closes a section that was never opened",
                remedy: "write {{#\(name)}} or {{^\(name)}} before its first word, or leave it out"
            )
        }
        guard open == name else {
            throw TextTemplate.SyntaxError(
                cause: "{{/\(name)}} closes a section while {{#\(open)}} is still open",
                remedy: "close {{#\(open)}} first"
            )
        }
        source += "{{/\(number)}}"
    }

    private mutating func number(_ reference: SectionText.Reference) -> Int {
        if let known = numbers[reference] { return known }
        numbers[reference] = references.count
        references.append(reference)
        return references.count - 1
    }

    private mutating func index(of name: String) -> Int {
        if let known = indexes[name] { return known }
        indexes[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// Whether Mustache reads a text between two tags as literal text.
    ///
    /// Mustache reads characters, and a brace followed by a combining accent is a different character.
    private static func isPlain(_ text: String) -> Bool {
        if text.utf8.first == UInt8(ascii: "{") || text.utf8.last == UInt8(ascii: "{") { return false }
        if text.utf8.firstRange(of: "{{".utf8) != nil { return false }
        let enclosed = "}" + text + "{"
        return enclosed.first == "}" && enclosed.last == "{"
    }
}
