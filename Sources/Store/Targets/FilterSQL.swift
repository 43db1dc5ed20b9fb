import PostgresClient
import PushCore

/// A filter as an SQL condition over alias `s`, a subscription, and alias `m`, the row of the mapping, whose columns
/// are named by ``alias(_:)``. A filter that asks what people did also reads ``tablesSQL``, joined by ``joinsSQL``.
///
/// Values are parameters, and so are the names of recipients' fields. Identifiers come only from the tables below or
/// the catalog. The condition is never null.
struct FilterSQL {
    private(set) var condition = "true"
    /// The parameters, numbered from the first free one.
    private(set) var parameters: [PostgresValue] = []
    /// The columns of the subscription that the condition reads.
    private(set) var columns: Set<String> = []
    /// The columns of the mapping that the condition reads, in the order of their aliases.
    private(set) var mappingColumns: [MappingColumn] = []

    /// What the condition costs, in subscriptions that are read: one with a field or two costs as much as its reading.
    private(set) var cost = 1.0

    /// The arguments of the function that reads the history, one for each test of what people did, and the blocks.
    private var behaviourCalls: [(arguments: String, blocks: String)] = []
    private let first: Int
    private let mapping: TargetMapping?
    private let start: DatabaseTime
    private let behaviour: BehaviourScope?
    private let isPlannedWithValues: Bool

    /// Builds the condition.
    ///
    /// - Parameters:
    ///   - first: the number of the first free parameter.
    ///   - mapping: required if the filter uses its columns.
    ///   - start: the meaning of `now`.
    ///   - behaviour: required if the filter asks what people did.
    ///   - isPlannedWithValues: whether the statement is planned for these values alone. Then no part of the condition
    ///     keeps the server from running it in several processes.
    init(
        _ filter: TargetFilter,
        firstParameter first: Int,
        mapping: TargetMapping?,
        start: DatabaseTime,
        behaviour: BehaviourScope? = nil,
        isPlannedWithValues: Bool = false
    ) throws {
        self.first = first
        self.mapping = mapping
        self.start = start
        self.behaviour = behaviour
        self.isPlannedWithValues = isPlannedWithValues
        condition = try sql(filter)
    }

    private mutating func sql(_ filter: TargetFilter) throws -> String {
        switch filter {
        case .all(let filters): return "(" + (try filters.map { try sql($0) }.joined(separator: " AND ")) + ")"
        case .any(let filters): return "(" + (try filters.map { try sql($0) }.joined(separator: " OR ")) + ")"
        case .not(let filter): return "NOT " + (try sql(filter))
        case .compare(let field, let comparison, let literal):
            let isNegated = comparison == .notEqual
            let test = try compare(field, isNegated ? "=" : comparison.rawValue, literal)
            return isNegated ? "NOT \(test)" : test
        case .isIn(let field, let literals): return try isIn(field, literals)
        case .contains(let field, let wanted):
            return "(strpos(\(try text(of: field)) COLLATE \"C\", \(bind(.text(wanted)))) > 0 IS TRUE)"
        case .startsWith(let field, let wanted):
            let wanted = field == .column(.locale) ? LocaleTag.canonicalPrefix(wanted) : wanted
            return "(starts_with(\(try text(of: field)) COLLATE \"C\", \(bind(.text(wanted)))) IS TRUE)"
        case .isNull(let field): return "(\(try column(field).sql) IS NULL)"
        case .did(let test): return try did(test)
        }
    }

    /// The history is asked once for all blocks of persons of the statement, and joined to each subscription.
    private mutating func did(_ test: TargetBehaviour) throws -> String {
        guard let behaviour else {
            throw StoreError(
                .invalid,
                "target filter: \"\(test.kind.rawValue)\" asks what people did, which is unknown here"
            )
        }
        columns.insert("person_id")
        let since = test.days.map { days in
            let moment = start.microsecondsSince2000 &- Int64(days) &* 86_400_000_000
            return "(\(bind(.timestamp(microsecondsSince2000: moment))) AT TIME ZONE 'UTC')::date"
        }
        let blocks =
            switch behaviour.blocks {
            case .query(let query): "ARRAY(\(query))"
            case .these(let blocks): bind(.int32Array(blocks))
            }
        let arguments = [
            bind(.text(test.kind.rawValue)), bind(.text(test.subject.word.rawValue)),
            test.subject.value.map { bind(.text($0)) } ?? "NULL", since ?? "NULL",
            bind(.int32Array(behaviour.services)),
        ]
        cost += 0.5
        let place = behaviourCalls.count
        behaviourCalls.append((arguments.joined(separator: ", "), blocks))
        return "(get_bit(b\(place).persons, (coalesce(s.person_id, s.id) & 4095)::integer) = 1 IS TRUE)"
    }

    /// The tables of the statement that the condition reads, each with a comma after it. They belong behind the tables
    /// that ``BehaviourScope`` names.
    var tablesSQL: String {
        behaviourCalls.enumerated().map { place, call in
            """
            did\(place) AS MATERIALIZED (
                SELECT w.block, w.persons FROM pushmta_engine.who_did(\(call.arguments), \(call.blocks)) w
            ),\u{20}
            """
        }.joined()
    }

    /// Joins these tables to subscription `s`.
    var joinsSQL: String { joins { place, _ in "did\(place)" } }

    /// Joins what these tables have without them: each part of a statement that does so asks for itself.
    var ownJoinsSQL: String {
        joins { _, call in "pushmta_engine.who_did(\(call.arguments), \(call.blocks))" }
    }

    /// The same for a statement about few subscriptions: it asks for each.
    var singleJoinsSQL: String {
        joins { _, call in "LATERAL pushmta_engine.who_did(\(call.arguments), ARRAY[\(Self.block)])" }
    }

    private static let block = "(coalesce(s.person_id, s.id) >> 12)::integer"

    private func joins(_ table: (Int, (arguments: String, blocks: String)) -> String) -> String {
        behaviourCalls.enumerated().map { place, call in
            " LEFT JOIN \(table(place, call)) b\(place) ON b\(place).block = \(Self.block)"
        }.joined()
    }

    /// The sub-select of a constant is evaluated once per statement; a cast would be evaluated for each row, unless the
    /// planner knows the value.
    private mutating func compare(_ field: TargetField, _ sign: String, _ literal: TargetLiteral) throws -> String {
        let (column, kind) = try column(field)
        let given = try fitting(literal, field, kind)
        // Comparisons by order use the text as written, not its canonical form.
        let operand = sign == "=" ? Self.named(given, field) : given
        let sql = Self.operand(column, kind, for: operand)
        cost += Self.cost(kind, operand)
        let value =
            switch operand {
            case .text(let text), .textOrTime(let text, _): bind(.text(text))
            case .number(let digits):
                isPlannedWithValues
                    ? "\(bind(.text(digits)))::numeric" : "(SELECT \(bind(.text(digits)))::numeric)"
            case .boolean(let flag): flag ? "true" : "false"
            case .time(let moment): bind(.timestamp(microsecondsSince2000: microseconds(moment)))
            }
        return "(\(sql) \(sign) \(value) IS TRUE)"
    }

    /// An uncorrelated sub-select is hashed; an array would be searched for each row.
    private mutating func isIn(_ field: TargetField, _ literals: [TargetLiteral]) throws -> String {
        let (column, kind) = try column(field)
        let operands = try literals.map { Self.named(try fitting($0, field, kind), field) }
        guard let first = operands.first else { return "false" }
        let sql = Self.operand(column, kind, for: first)
        cost += Self.cost(kind, first)
        let list =
            switch first {
            case .text, .textOrTime:
                "SELECT u COLLATE \"C\" FROM unnest(\(bind(.textArray(texts(operands))))::text[]) u"
            case .number:
                "SELECT u::numeric FROM unnest(\(bind(.textArray(texts(operands))))::text[]) u"
            case .boolean:
                "SELECT u::boolean FROM unnest(\(bind(.textArray(texts(operands))))::text[]) u"
            case .time:
                "SELECT u FROM unnest(\(bind(.timestampArray(microsecondsSince2000: moments(operands))))) u"
            }
        return "(\(sql) IN (\(list)) IS TRUE)"
    }

    private func texts(_ literals: [TargetLiteral]) -> [String?] {
        literals.compactMap { literal in
            switch literal {
            case .text(let text), .textOrTime(let text, _), .number(let text): text
            case .boolean(let flag): flag ? "true" : "false"
            case .time: nil
            }
        }
    }

    private func moments(_ literals: [TargetLiteral]) -> [Int64] {
        literals.compactMap { if case .time(let moment) = $0 { microseconds(moment) } else { nil } }
    }

    private func microseconds(_ moment: TargetMoment) -> Int64 {
        switch moment {
        case .absolute(let microseconds): DatabaseTime(microsecondsSince1970: microseconds).microsecondsSince2000
        case .beforeStart(let seconds): start.microsecondsSince2000 &- seconds &* 1_000_000
        }
    }

    /// The literal in the form that the field stores: a locale has several forms.
    private static func named(_ literal: TargetLiteral, _ field: TargetField) -> TargetLiteral {
        guard field == .column(.locale), case .text(let text) = literal else { return literal }
        return .text(LocaleTag.canonical(text))
    }

    /// The literal for the field's kind.
    private func fitting(_ literal: TargetLiteral, _ field: TargetField, _ kind: TargetKind) throws -> TargetLiteral {
        if let fitting = literal.fitting(kind) { return fitting }
        throw StoreError(.invalid, "\(TargetFilterError.mismatch(field, kind, literal))")
    }

    /// A field as an expression of the literal's kind.
    private static func operand(_ column: String, _ kind: TargetKind, for literal: TargetLiteral) -> String {
        switch (kind, literal) {
        case (.text, .text): "\(column) COLLATE \"C\""
        case (.text, .number): "pushmta_engine.filter_number(\(column))"
        case (.text, .boolean): "CASE \(column) WHEN 'true' THEN true WHEN 'false' THEN false END"
        case (.text, .time): "pushmta_engine.filter_time(\(column))"
        default: column
        }
    }

    /// A text must be proved to be a number or a time.
    private static func cost(_ kind: TargetKind, _ literal: TargetLiteral) -> Double {
        switch (kind, literal) {
        case (.text, .number): 5
        case (.text, .time): 10
        default: 0
        }
    }

    private mutating func text(of field: TargetField) throws -> String {
        let (sql, kind) = try column(field)
        guard kind == .text else {
            throw StoreError(.invalid, "target filter: \(field) is \(kind.words), which contains no text")
        }
        return sql
    }

    private mutating func bind(_ value: PostgresValue) -> String {
        parameters.append(value)
        return "$\(first + parameters.count - 1)"
    }

    /// A field as an expression that is null where the field is absent.
    private mutating func column(_ field: TargetField) throws -> (sql: String, kind: TargetKind) {
        switch field {
        case .column(let column):
            columns.formUnion(column.columns)
            return (column.sql, column.kind)
        case .recipient(let name): return (json("recipient", name), .text)
        case .parameter(let name): return (json("parameters", name), .text)
        case .device(let name): return (json("device", name), .text)
        case .mapping(let name):
            guard let mapping else {
                throw StoreError(
                    .invalid,
                    "target filter: \(field) is a column of a target mapping, but the service has none",
                    hint: "pushmta service set --mapping gives it one"
                )
            }
            let column = try mapping.column(name)
            if !mappingColumns.contains(column) { mappingColumns.append(column) }
            let place = mappingColumns.firstIndex(of: column) ?? 0
            return ("m.\(Self.alias(place))", column.kind)
        }
    }

    private mutating func json(_ column: String, _ name: String) -> String {
        columns.insert(column)
        return "(s.\(column) ->> \(bind(.text(name))))"
    }

    /// The name of a mapping's column in alias `m`. The view's own names may clash with names in the statement.
    static func alias(_ place: Int) -> String { "c\(place)" }
}

extension TargetColumn {
    /// The column as an expression over alias `s`, a subscription; an empty text counts as absent.
    var sql: String {
        switch self {
        case .subscriptionID: "s.id::numeric"
        case .application: Self.ofApplication("name")
        case .platform: Self.ofApplication("platform")
        case .environment: Self.ofApplication("environment")
        case .userKey, .locale, .timeZone, .deviceID, .quarantineReason: "NULLIF(s.\(rawValue), '')"
        case .registeredAt, .createdAt, .quarantinedAt, .lastErrorAt, .enabled, .optedOut: "s.\(rawValue)"
        case .softErrors: "s.soft_errors::numeric"
        case .quarantineStatus:
            """
            CASE s.quarantine_status WHEN 0 THEN 'valid' WHEN 1 THEN 'with_errors' WHEN 2 THEN 'quarantine' ELSE 'denylisted' END
            """
        }
    }

    /// The columns of the subscription that the expression reads.
    var columns: Set<String> {
        switch self {
        case .subscriptionID: ["id"]
        case .application, .platform, .environment: ["application_id"]
        default: [rawValue]
        }
    }

    private static func ofApplication(_ column: String) -> String {
        "(SELECT a.\(column) FROM pushmta_engine.application a WHERE a.id = s.application_id)"
    }
}
