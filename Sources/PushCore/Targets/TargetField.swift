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
        if let column = TargetColumn(rawValue: text) {
            self = .column(column)
            return
        }
        let scalars = text.unicodeScalars
        let group = scalars.prefix { $0 != "." }
        let written = String(String.UnicodeScalarView(scalars.dropFirst(group.count + 1)))
        guard let name = Self.isPlain(written) ? written : Self.unquoted(written),
            let field = Self.named(String(String.UnicodeScalarView(group)), name)
        else { return nil }
        self = field
    }

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
        group + "." + (isPlain(name) ? name : TargetFilter.quoted(name, by: "\""))
    }

    /// Whether a name needs no quotes. The database accepts some other characters as letters, too.
    private static func isPlain(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        return scalars.first.map(isLetter) == true
            && scalars.allSatisfy { scalar in
                isLetter(scalar) || ("0"..."9").contains(scalar)
                    || (!scalar.isASCII && scalar.properties.generalCategory == .nonspacingMark)
            }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else {
            return scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        }
        return scalar.properties.isAlphabetic
    }

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
