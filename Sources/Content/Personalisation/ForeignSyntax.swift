import PushCore

/// Finds tags of other template languages. They have no meaning here, so people would receive them as written.
enum ForeignSyntax {
    /// A tag that was found, and what to write instead.
    struct Finding: Hashable {
        let tag: String
        let remedy: String
    }

    /// The foreign tags in a text, without repetitions.
    static func findings(in text: String) -> [Finding] {
        var found: [Finding] = []
        for (open, close, remedy) in pairs {
            var rest = Substring(text)
            while let start = rest.firstRange(of: open), let end = rest[start.upperBound...].firstRange(of: close) {
                let inside = rest[start.upperBound..<end.lowerBound]
                rest = rest[end.upperBound...]
                // A tag is short and on one line; anything else is text that happens to contain these characters.
                guard inside.utf8.count <= TextToken.maxNameLength, !inside.contains(where: \.isNewline) else {
                    continue
                }
                if let remedy = remedy(inside) {
                    found.append(Finding(tag: "\(open)\(inside)\(close)", remedy: remedy))
                }
            }
        }
        found += tags(in: text)
        return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// How tags begin and end, and what to write instead; nil if it is not a tag.
    private static let pairs: [(open: String, close: String, remedy: @Sendable (Substring) -> String?)] = [
        // Adobe Campaign, JSP, ERB.
        ("<%", "%>", { inside in inside.hasPrefix("@") ? "write the text itself" : field(inside) ?? section }),
        // Jinja, Liquid, Twig.
        ("{%", "%}", { _ in section }),
        // JSP's expressions, Velocity, JavaScript.
        ("${", "}", { field($0) }),
        // Marketing Cloud.
        ("%%", "%%", { inside in isName(inside) ? field(inside) : nil }),
        // Mailchimp.
        ("*|", "|*", { inside in isName(inside) ? field(inside) : section }),
    ]

    private static let section =
        "write {{#name}}…{{/name}} for those who have a value, {{^name}}…{{/name}} for the others"

    /// The advice to write the field that an expression names; nil if it names none.
    @Sendable private static func field(_ expression: Substring) -> String? {
        let text = expression.drop { $0 == "=" || $0 == "-" || $0.isWhitespace || $0 == "!" }
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        let rest = text[name.endIndex...].drop(while: \.isWhitespace)
        guard !name.isEmpty, rest.isEmpty || "%-;".contains(rest.first ?? " ") else { return nil }
        return "write {{\(own(name))}}"
    }

    /// A name without the object under which the other language keeps the person's data.
    private static func own(_ name: Substring) -> Substring {
        for owner in owners where name.lowercased().hasPrefix(owner) { return name.dropFirst(owner.count) }
        return name
    }

    private static let owners = [
        "recipient.", "context.recipient.", "contact.", "user.", "profile.", "subscriber.", "lead.",
    ]

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "-" }
    }

    /// Filters of Liquid and Jinja: here, text after `|` is the default, so their names would be sent.
    private static let filters: Set<String> = [
        "upcase", "downcase", "capitalize", "upper", "lower", "title", "trim", "strip", "escape", "date", "default",
        "truncate",
        "round", "replace", "append", "prepend", "size", "length", "money", "number", "url_encode", "json", "safe",
        "raw",
    ]

    /// Words that begin a block tag in Handlebars and similar languages.
    private static let words: Set<String> = ["if", "unless", "each", "with", "for", "foreach"]

    /// Tags in our own syntax that have another meaning in another language.
    private static func tags(in text: String) -> [Finding] {
        guard let tokens = try? TextToken.tokens(of: text) else { return [] }
        return tokens.compactMap { token in
            switch token {
            case .field(let field): finding(field)
            case .open(let name), .openInverted(let name): block(name)
            case .literal, .close: nil
            }
        }
    }

    private static func finding(_ field: PersonalisationField) -> Finding? {
        if field.name == "else" || field.name == "end" || field.name.hasPrefix("else ") {
            return Finding(tag: "{{\(field.name)}}", remedy: section)
        }
        if let block = block(field.name) { return block }
        let written = field.defaultValue.map { "{{\(field.name)|\($0)}}" } ?? "{{\(field.name)}}"
        for owner in ["recipient.", "context.recipient."] where field.name.hasPrefix(owner) {
            return Finding(tag: written, remedy: "write {{\(field.name.dropFirst(owner.count))}}")
        }
        guard let given = field.defaultValue else { return nil }
        let word = given.prefix { $0.isLetter || $0 == "_" }
        let rest = given[word.endIndex...].drop(while: \.isWhitespace)
        guard filters.contains(word.lowercased()), rest.isEmpty || ":(|".contains(rest.first ?? " ") else { return nil }
        if word.lowercased() == "default", !rest.isEmpty {
            let value = rest.dropFirst().filter { !"\"'()“”".contains($0) }.drop(while: \.isWhitespace)
            return Finding(tag: written, remedy: "write {{\(field.name)|\(value)}}")
        }
        return Finding(
            tag: written,
            remedy:
                "there are no filters, and text after | is the default: supply the value as people should see it, as {{\(field.name)}}"
        )
    }

    private static func block(_ name: String) -> Finding? {
        let parts = name.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let word = parts.first, words.contains(word.lowercased()) else { return nil }
        let field = parts[1].prefix { !$0.isWhitespace }
        return Finding(
            tag: "{{#\(name)}}",
            remedy: word.lowercased() == "unless"
                ? "write {{^\(field)}}…{{/\(field)}}" : "write {{#\(field)}}…{{/\(field)}}"
        )
    }
}

extension PushContent {
    /// Text that is probably a mistake: it can be sent, and people would see it as written.
    package var warnings: [ContentProblem] {
        var found: [ContentProblem] = []
        for variant in variants {
            for entry in variant.section.entries { Self.look(at: entry.value, "\(variant.path).\(entry.name)", &found) }
        }
        return found
    }

    /// A longer list would not be read.
    private static let maxWarnings = 20

    private static func look(at value: JSONValue, _ path: String, _ found: inout [ContentProblem]) {
        switch value {
        case .string(let text):
            for finding in ForeignSyntax.findings(in: text) where found.count < maxWarnings {
                found.append(
                    ContentProblem(
                        key: path,
                        cause:
                            "\(ContentValidator.short(finding.tag)) belongs to another template language and is sent as it stands",
                        remedy: finding.remedy
                    )
                )
            }
        case .array(let elements): for element in elements { look(at: element, path, &found) }
        case .object(let entries):
            for entry in entries { look(at: entry.value, ContentValidator.path(path, entry.name), &found) }
        case .null, .boolean, .number: break
        }
    }
}
