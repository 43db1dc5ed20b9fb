/// Which subscribers of its applications a delivery goes to.
///
/// A filter is written as text; README has the whole language:
///
///     recipient.city in ('Lyon', 'Oslo') and not (parameters.tier = 'gold' or registered_at < now - 90 days)
///
/// Every test is true or false: with a field that is absent a test is false, but for `is null`; `!=` and `not in` are exactly
/// `not` of `=` and `in`. So a filter and its `not` together are all subscribers.
public indirect enum TargetFilter: Sendable, Hashable {
    /// All of them are true.
    case all([TargetFilter])
    /// One of them is true.
    case any([TargetFilter])
    case not(TargetFilter)
    /// The field's value stands in this relation to the literal. Texts are compared by their code points.
    case compare(TargetField, TargetComparison, TargetLiteral)
    /// The field's value is one of the literals, which are of one kind.
    case isIn(TargetField, [TargetLiteral])
    case contains(TargetField, String)
    case startsWith(TargetField, String)
    case isNull(TargetField)

    /// The longest text of a filter in bytes: a list of a thousand user keys has room.
    public static let maximumBytes = 65_536
    /// How deep parentheses and `not` may be nested.
    public static let maximumDepth = 64
    /// The tests of a filter: more is a list, for which there are explicit targets and exclusion lists.
    public static let maximumTests = 500
    /// The values of one `in`.
    public static let maximumListLength = 1_000

    public init(parsing text: String) throws(TargetFilterError) {
        var parser = try TargetFilterParser(text)
        self = try parser.parse()
    }

    /// The columns of the mapping's view that it asks for.
    public var mappingColumns: Set<String> {
        switch self {
        case .all(let filters), .any(let filters): filters.reduce(into: []) { $0.formUnion($1.mappingColumns) }
        case .not(let filter): filter.mappingColumns
        case .compare(let field, _, _), .isIn(let field, _), .contains(let field, _), .startsWith(let field, _),
            .isNull(let field):
            if case .mapping(let name) = field { [name] } else { [] }
        }
    }
}

/// What the check of filters in the database takes from here: fields, their kinds, and limits. Its grammar is ``TargetFilterParser``'s.
extension TargetFilter {
    /// The rules, a JSON object.
    public static let rules = JSONText.compact(
        object([
            ("bytes", number(maximumBytes)), ("depth", number(maximumDepth)), ("tests", number(maximumTests)),
            ("values", number(maximumListLength)), ("digits", number(TargetFilterLexer.maximumDigits)),
            ("furthest", number(TargetFilterParser.furthestSeconds)),
            ("units", object(TargetFilterParser.units.sorted { $0.key < $1.key }.map { ($0.key, number($0.value)) })),
            (
                "groups",
                object(
                    TargetField.groups.map { group in
                        (group, TargetField.named(group, "")?.kind.map { .string($0.rawValue) } ?? .null)
                    }
                )
            ), ("columns", object(TargetColumn.allCases.map { ($0.rawValue, column($0)) })),
        ])
    )

    private static func column(_ column: TargetColumn) -> JSONValue {
        object(
            [("kind", .string(column.kind.rawValue))]
                + (column.words.map { [("words", .array($0.map(JSONValue.string)))] } ?? [])
        )
    }

    private static func object(_ entries: [(String, JSONValue)]) -> JSONValue {
        .object(entries.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    private static func number(_ number: some BinaryInteger) -> JSONValue { .number(String(number)) }
}

/// How a filter compares a field with a value.
public enum TargetComparison: String, Sendable, Hashable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Whether it needs an order and not only equality.
    public var isOrder: Bool {
        switch self {
        case .equal, .notEqual: false
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        }
    }
}

/// Why a filter cannot be used.
public struct TargetFilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public enum Code: String, Sendable, Hashable {
        /// The text is no filter.
        case syntax
        /// A field does not exist.
        case unknownField
        /// A field is compared with what it cannot be compared with.
        case kind
        /// It is longer, deeper or wider than a filter may be.
        case limit
    }

    /// The kind of the error.
    public let code: Code
    /// Where in the text, 1 for the first character; nil where the place is not known.
    public let position: Int?
    /// What is wrong; never a value out of the filter, as it may be somebody's name.
    public let cause: String
    public let remedy: String

    public init(_ code: Code, at position: Int?, _ cause: String, _ remedy: String) {
        self.code = code
        self.position = position
        self.cause = cause
        self.remedy = remedy
    }

    /// Place, cause and remedy in one line.
    public var description: String {
        let place = position.map { ", character \($0)" } ?? ""
        return "target filter\(place): \(cause); \(remedy)"
    }
}
