/// Selects the subscribers of its applications that a delivery goes to.
///
/// A filter is written as text; Config/targets.md describes the language:
///
///     recipient.city in ('Lyon', 'Oslo') and not (parameters.tier = 'gold' or registered_at < now - 90 days)
///     sent label 'Spring' within 30 days and not clicked label 'Spring'
///
/// Only the database parses the text (`pushmta_engine.parse_filter`), because marketing systems set filters in SQL.
/// This is the tree that it returns; ``init(tree:)`` decodes it.
///
/// Every test is true or false, never null. If the field is absent, every test except `is null` is false. `!=` and `not
/// in` are exactly `not` of `=` and `in`. So a filter and its `not` together select all subscribers.
package indirect enum TargetFilter: Sendable, Hashable {
    /// All of them are true.
    case all([TargetFilter])
    /// One of them is true.
    case any([TargetFilter])
    case not(TargetFilter)
    /// The field's value compares like this with the literal. Texts are compared by code points.
    case compare(TargetField, TargetComparison, TargetLiteral)
    /// The field's value is one of the literals, which all have the same kind.
    case isIn(TargetField, [TargetLiteral])
    case contains(TargetField, String)
    case startsWith(TargetField, String)
    case isNull(TargetField)
    /// The subscriber's person did this.
    case did(TargetBehaviour)

    /// The maximum length of a filter's text in bytes: it has room for a list of a thousand user keys.
    package static let maxBytes = 65_536
    /// The maximum nesting of parentheses and `not`.
    package static let maxDepth = 64
    /// The maximum number of tests in a filter. Longer lists belong in explicit targets or exclusion lists.
    package static let maxTests = 500
    /// The maximum number of values in one `in`.
    package static let maxListLength = 1_000
    /// The maximum number of digits of a number. PostgreSQL's own limit is far higher, and no real value needs more.
    package static let maxDigits = 100
    /// The maximum distance of a time from `now`, the delivery's start, in seconds: a hundred years.
    package static let maxSeconds: Int64 = 100 * 366 * 86_400

    /// Whether a text is no filter, as in `set_target`, which removes the same blanks.
    package static func isNone(_ text: String) -> Bool { text.utf8.allSatisfy { " \t\r\n".utf8.contains($0) } }

    /// The columns of the mapping's view that the filter uses.
    package var mappingColumns: Set<String> {
        switch self {
        case .all(let filters), .any(let filters): filters.reduce(into: []) { $0.formUnion($1.mappingColumns) }
        case .not(let filter): filter.mappingColumns
        case .compare(let field, _, _), .isIn(let field, _), .contains(let field, _), .startsWith(let field, _),
            .isNull(let field):
            if case .mapping(let name) = field { [name] } else { [] }
        case .did: []
        }
    }

    /// Whether it asks what people did.
    package var asksBehaviour: Bool {
        switch self {
        case .all(let filters), .any(let filters): filters.contains(where: \.asksBehaviour)
        case .not(let filter): filter.asksBehaviour
        case .did: true
        case .compare, .isIn, .contains, .startsWith, .isNull: false
        }
    }
}

/// The database's filter parser gets the fields, their kinds, the units and the limits from here. The grammar itself is
/// in the database.
extension TargetFilter {
    /// The rules, a JSON object.
    package static let rules = JSONText.compact(
        object([
            ("bytes", number(maxBytes)), ("depth", number(maxDepth)), ("tests", number(maxTests)),
            ("values", number(maxListLength)), ("digits", number(maxDigits)),
            ("furthest", number(maxSeconds)),
            ("units", object(units.sorted { $0.key < $1.key }.map { ($0.key, number($0.value)) })),
            ("fields", .array(TargetField.known.map(JSONValue.string))),
            ("behaviours", .array(TargetBehaviour.Kind.allCases.map { .string($0.rawValue) })),
            ("subjects", .array(TargetBehaviour.Subject.Word.allCases.map { .string($0.rawValue) })),
            ("days", number(TargetBehaviour.maxDays)),
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

    /// The units of a distance from `now`, in seconds.
    private static let units: [String: Int64] = [
        "second": 1, "seconds": 1, "minute": 60, "minutes": 60, "hour": 3_600, "hours": 3_600, "day": 86_400,
        "days": 86_400, "week": 604_800, "weeks": 604_800,
    ]

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
package enum TargetComparison: String, Sendable, Hashable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Whether it compares by order, not only by equality.
    package var isOrder: Bool {
        switch self {
        case .equal, .notEqual: false
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        }
    }
}
