/// A field of a subscriber in a filter.
package enum TargetField: Sendable, Hashable, CustomStringConvertible {
    /// A property that every subscription has: `locale`, `registered_at`, …
    case column(TargetColumn)
    /// `recipient.NAME`: a field of the recipient.
    case recipient(String)
    /// `parameters.NAME`: a parameter of the subscription.
    case parameter(String)
    /// `device.NAME`: a value that the device reported about itself.
    case device(String)
    /// `mapping.NAME`: a column of the view to which the service's target mapping maps user keys.
    case mapping(String)

    /// The kind of its values; nil for a column of a view, whose type only the database knows.
    package var kind: TargetKind? {
        switch self {
        case .column(let column): column.kind
        case .recipient, .parameter, .device: .text
        case .mapping: nil
        }
    }

    /// The field's name in a filter.
    package var description: String {
        switch self {
        case .column(let column): column.rawValue
        case .recipient(let name): Self.path("recipient", name)
        case .parameter(let name): Self.path("parameters", name)
        case .device(let name): Self.path("device", name)
        case .mapping(let name): Self.path("mapping", name)
        }
    }

    /// Reads a field's name, as ``description`` writes it; nil if the text is not one.
    package init?(_ text: String) {
        guard let (word, name) = Self.parts(text) else { return nil }
        if let name {
            guard let field = Self.named(word, name) else { return nil }
            self = field
        } else {
            guard let column = TargetColumn(rawValue: word) else { return nil }
            self = .column(column)
        }
    }

    /// Whether a text has the form of a field: `NAME`, `NAME.NAME` or `NAME."any NAME"`. The database knows whether there
    /// is such a field.
    package static func isWritten(_ text: String) -> Bool { parts(text) != nil }

    /// The field of a group whose names are open. `parameter` is accepted too, as in imports.
    static func named(_ group: String, _ name: String) -> TargetField? {
        switch group {
        case "recipient": .recipient(name)
        case "parameters", "parameter": .parameter(name)
        case "device": .device(name)
        case "mapping": .mapping(name)
        default: nil
        }
    }

    /// All names of the groups.
    static let groups = ["recipient", "parameters", "parameter", "device", "mapping"]

    /// The columns and groups, for the hint about an unknown name.
    static let known = TargetColumn.allCases.map(\.rawValue) + groups.filter { $0 != "parameter" }

    private static func path(_ group: String, _ name: String) -> String {
        group + "." + (isWord(name) ? name : TargetFilter.quoted(name, by: "\""))
    }

    /// The word of a column or a group, and the name behind the group's dot; nil if the text has another form.
    private static func parts(_ text: String) -> (word: String, name: String?)? {
        let scalars = text.unicodeScalars
        let word = String(String.UnicodeScalarView(scalars.prefix { $0 != "." }))
        guard isWord(word) else { return nil }
        let length = word.unicodeScalars.count
        guard length < scalars.count else { return (word, nil) }
        let written = String(String.UnicodeScalarView(scalars.dropFirst(length + 1)))
        guard let name = isWord(written) ? written : unquoted(written) else { return nil }
        return (word, name)
    }

    /// Whether a name needs no quotes, by the rules of the database's parser (`filter_tokens`).
    private static func isWord(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        return scalars.first.map(isLetter) == true
            && scalars.allSatisfy { isLetter($0) || ("0"..."9").contains($0) }
    }

    /// Of the characters beyond ASCII, all but spaces and quotation marks count as letters.
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return !scalar.properties.isWhitespace && !typographicQuotes.contains(scalar) }
        return scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    private static let typographicQuotes: Set<Unicode.Scalar> = ["\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}"]

    /// The name in double quotes; nil if the text is anything else.
    private static func unquoted(_ text: String) -> String? {
        var scalars = text.unicodeScalars[...]
        guard scalars.popFirst() == "\"", scalars.popLast() == "\"" else { return nil }
        var name = String.UnicodeScalarView()
        while let scalar = scalars.popFirst() {
            if scalar == "\"", scalars.popFirst() != "\"" { return nil }
            name.append(scalar)
        }
        return String(name)
    }
}
