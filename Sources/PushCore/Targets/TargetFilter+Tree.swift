/// A filter tree from the database that this program does not support.
package struct UnknownTargetTree: Error, Sendable, Hashable {}

/// Filters as the database returns them, and quotes as filters write them.
extension TargetFilter {
    /// The maximum depth of a tree's JSON. An `any` within an `all` has four levels, a list's literal has five.
    private static let maxTreeDepth = 5 * (maxDepth + 1)

    /// Decodes the JSON text of a tree.
    package init(treeText text: String) throws {
        try self.init(tree: JSONParser.parse(text.utf8, deepest: Self.maxTreeDepth))
    }

    /// Decodes a tree that `pushmta_engine.parse_filter` returned. Sources/Schema/version1/21-filters.sql describes its
    /// form.
    package init(tree: JSONValue) throws {
        let entry = try Self.entry(tree)
        switch (entry.name, entry.value) {
        case ("all", .array(let trees)): self = .all(try Self.filters(trees))
        case ("any", .array(let trees)): self = .any(try Self.filters(trees))
        case ("not", let inner): self = .not(try TargetFilter(tree: inner))
        case ("is_null", let field): self = .isNull(try Self.field(field))
        case (let name, .array(let parts)): self = try Self.test(name, parts)
        case (let name, .object(let entries)): self = .did(try Self.behaviour(name, entries))
        default: throw UnknownTargetTree()
        }
    }

    private static func filters(_ trees: [JSONValue]) throws -> [TargetFilter] {
        var filters: [TargetFilter] = []
        for tree in trees { filters.append(try TargetFilter(tree: tree)) }
        return filters
    }

    private static func test(_ name: String, _ parts: [JSONValue]) throws -> TargetFilter {
        guard parts.count >= 2 else { throw UnknownTargetTree() }
        let field = try field(parts[0])
        switch (name, parts[1], parts.count) {
        case ("compare", .string(let sign), 3):
            guard let comparison = TargetComparison(rawValue: sign) else { throw UnknownTargetTree() }
            return .compare(field, comparison, try literal(parts[2]))
        case ("in", .array(let trees), 2):
            var literals: [TargetLiteral] = []
            for tree in trees { literals.append(try literal(tree)) }
            return .isIn(field, literals)
        case ("contains", .string(let text), 2): return .contains(field, text)
        case ("starts_with", .string(let text), 2): return .startsWith(field, text)
        default: throw UnknownTargetTree()
        }
    }

    private static func behaviour(_ name: String, _ entries: [JSONEntry]) throws -> TargetBehaviour {
        guard let kind = TargetBehaviour.Kind(rawValue: name) else { throw UnknownTargetTree() }
        var subject: TargetBehaviour.Subject?
        var days: Int?
        for entry in entries {
            switch (entry.name, entry.value) {
            case ("any", .boolean(true)): subject = .any
            case ("delivery", .number(let digits)): subject = Int64(digits).map { TargetBehaviour.Subject.delivery($0) }
            case ("label", .string(let label)): subject = .label(label)
            case ("category", .string(let category)): subject = .category(category)
            case ("days", .number(let digits)): days = Int(digits)
            default: throw UnknownTargetTree()
            }
        }
        guard let subject else { throw UnknownTargetTree() }
        return TargetBehaviour(kind, subject, days: days)
    }

    private static func field(_ tree: JSONValue) throws -> TargetField {
        let entry = try entry(tree)
        guard case .string(let name) = entry.value else { throw UnknownTargetTree() }
        if entry.name == "column", let column = TargetColumn(rawValue: name) { return .column(column) }
        guard let field = TargetField.named(entry.name, name) else { throw UnknownTargetTree() }
        return field
    }

    private static func literal(_ tree: JSONValue) throws -> TargetLiteral {
        guard case .object(let entries) = tree else { throw UnknownTargetTree() }
        var text: String?
        var moment: Int64?
        for entry in entries {
            switch (entry.name, entry.value) {
            case ("text", .string(let value)): text = value
            case ("at", .number(let digits)): moment = Int64(digits)
            case ("number", .string(let digits)): return .number(digits)
            case ("boolean", .boolean(let flag)): return .boolean(flag)
            case ("before_start", .number(let digits)):
                guard let seconds = Int64(digits) else { throw UnknownTargetTree() }
                return .time(.beforeStart(seconds: seconds))
            default: throw UnknownTargetTree()
            }
        }
        switch (text, moment) {
        case (let text?, let moment?): return .textOrTime(text, microseconds: moment)
        case (let text?, nil): return .text(text)
        case (nil, let moment?): return .time(.absolute(microseconds: moment))
        case (nil, nil): throw UnknownTargetTree()
        }
    }

    /// The only entry of an object.
    private static func entry(_ tree: JSONValue) throws -> JSONEntry {
        guard case .object(let entries) = tree, entries.count == 1, let entry = entries.first else {
            throw UnknownTargetTree()
        }
        return entry
    }

    /// A text or a name in quotes. Quotes inside it are doubled, even if a combining mark follows.
    package static func quoted(_ text: String, by quote: Unicode.Scalar = "'") -> String {
        var quoted = String.UnicodeScalarView()
        quoted.append(quote)
        for scalar in text.unicodeScalars {
            if scalar == quote { quoted.append(quote) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
