import Mustache
import PushCore

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
    /// Where each of the names reaches into an object, if it does.
    let paths: [FieldPath?]
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
    /// Longer texts are looked up, and so count against the bound of a rendering each time that a list's section repeats them.
    private static let longestPlainText = 64

    private(set) var source = ""
    private(set) var names: [String] = []
    private(set) var references: [SectionText.Reference] = []
    /// The names of the sections that are open, the innermost last.
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
        // Mustache forgets the spaces of a last line that has nothing else.
        let endsBlank = isLast && Self.blankLine(endOf: text).last.map { $0 == " " || $0 == "\t" } == true
        if text.utf8.count <= Self.longestPlainText, !endsBlank, Self.isPlain(text) {
            source += text
            return
        }
        // What lies between a tag and the line's begin or end stays visible: a tag alone in its line takes the line with it.
        let head = Self.blankLine(beginOf: text)
        let rest = text[head.endIndex...]
        let tail = isLast ? rest[rest.endIndex...] : Self.blankLine(endOf: String(rest))
        source += "\(head){{{\(number(.literal(String(rest.dropLast(tail.count)))))}}}\(tail)"
    }

    /// The spaces at the begin of a text with the line feed behind them; nothing if it begins otherwise.
    private static func blankLine(beginOf text: String) -> Substring {
        let spaces = text.prefix { $0 == " " || $0 == "\t" }
        guard let end = text[spaces.endIndex...].first, end == "\n" || end == "\r\n" else { return text.prefix(0) }
        return text[...spaces.endIndex]
    }

    /// The last line feed of a text with spaces behind it; nothing if it ends otherwise.
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
                remedy: "put fewer into one another"
            )
        }
        guard name != SectionText.element else {
            throw TextTemplate.SyntaxError(
                cause: "{{.}} is no section",
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
                cause: "{{/\(name)}} stands where the section {{#\(open)}} ends",
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

    /// Whether Mustache takes a text as it is between two tags.
    ///
    /// It reads characters, and with an accent behind it a brace is another one.
    private static func isPlain(_ text: String) -> Bool {
        if text.utf8.first == UInt8(ascii: "{") || text.utf8.last == UInt8(ascii: "{") { return false }
        if text.utf8.firstRange(of: "{{".utf8) != nil { return false }
        let enclosed = "}" + text + "{"
        return enclosed.first == "}" && enclosed.last == "{"
    }
}
