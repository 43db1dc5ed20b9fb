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

    /// Reads a filter.
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
