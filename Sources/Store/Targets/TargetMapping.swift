import PushCore

/// A registered view in which user keys reconcile with people, as it can be read now.
public struct TargetMapping: Sendable, Hashable {
    public let id: Int32
    /// Unique.
    public let name: String
    /// The name people see.
    public let label: String
    /// The view with its schema, each in quotes where it needs them: it stands in SQL as it is.
    public let view: String
    /// The column that holds the user keys.
    public let keyColumn: MappingColumn
    /// All columns that may be read, the key too.
    public let columns: [MappingColumn]

    /// The column of a name.
    ///
    /// Throws `invalid` if the view has none that may be read.
    public func column(_ name: String) throws -> MappingColumn {
        if let column = columns.first(where: { $0.name == name }) { return column }
        throw StoreError(
            .invalid,
            "The view of target mapping \"\(self.name)\" has no column \"\(name)\" that may be read.",
            hint: "pushmta mapping show \(self.name) lists its columns"
        )
    }

    /// What an operator reads of it.
    var viewText: String { "the view \(view) of target mapping \"\(name)\"" }

    /// Checks that all of these columns are there, for a delivery that was started.
    ///
    /// Throws `unavailable` if one is not: as the view itself it may be there again, while somebody makes the view anew.
    func require(_ names: some Sequence<String>) throws {
        do {
            for name in names { _ = try column(name) }
        } catch let error as StoreError {
            throw StoreError(.unavailable, error.message, hint: error.hint)
        }
    }
}

/// How statements read a mapping's view.
extension TargetMapping {
    /// Reads columns of the rows of some user keys, for ``ViewReader``: a list of the keys that have a row, then a list for each column.
    /// Of several rows of a key any one counts.
    ///
    /// - Parameters:
    ///   - columns: expressions over alias `m` that give texts.
    ///   - oneByOne: whether each key is looked up by itself: a view that computes something over many rows then need not do so for all.
    ///     For thousands of keys one look at the view is quicker.
    func readSQL(_ columns: [String], oneByOne: Bool) -> String {
        let list = columns.enumerated().map { ", \($1) AS c\($0)" }.joined()
        let names = ["user_key"] + columns.indices.map { "c\($0)" }
        let condition = keyColumn.keyCondition
        let found =
            oneByOne
            ? """
            SELECT k.user_key, m.* FROM unnest($1) k(user_key)
                CROSS JOIN LATERAL (SELECT true AS is_there\(list) FROM \(view) m WHERE \(condition) LIMIT 1) m
            """
            : """
            SELECT DISTINCT ON (k.user_key) k.user_key\(list) FROM unnest($1) k(user_key) JOIN \(view) m ON \(condition)
                ORDER BY k.user_key
            """
        return """
            SELECT x.list FROM (SELECT \(names.map { "array_agg(f.\($0)) AS \($0)" }.joined(separator: ", ")) FROM (\(found)) f) a
            CROSS JOIN LATERAL (VALUES \(names.enumerated().map { "(\($0), a.\($1))" }.joined(separator: ", "))) x(place, list)
            ORDER BY x.place
            """
    }
}

/// A column of a mapping's view.
public struct MappingColumn: Sendable, Hashable {
    public let name: String
    /// Its type as PostgreSQL writes it.
    public let type: String
    /// The condition that a row of alias `m` is that of `k.user_key`, if this is the key column (`pushmta_engine.key_condition`).
    let keyCondition: String

    /// What a filter takes it for; what is none of the other kinds is a text.
    public var kind: TargetKind {
        // What stands behind the modifiers is cut off too, as in timestamp(3) with time zone.
        switch baseType {
        case "smallint", "integer", "bigint", "numeric", "real", "double precision", "money": .number
        case "boolean": .boolean
        case "date", "timestamp", "timestamp with time zone", "timestamp without time zone": .time
        default: .text
        }
    }

    /// The type without its modifiers.
    var baseType: Substring { type.prefix { $0 != "(" } }

    /// The column of alias `m` as filters compare it. NaN is not a number, and what is none is absent: PostgreSQL would sort it above
    /// all numbers.
    var filterSQL: String {
        let column = "m.\(SQLName.quoted(name))::\(Self.type(kind))"
        return switch baseType {
        case "numeric", "real", "double precision": "NULLIF(\(column), 'NaN')"
        default: column
        }
    }

    /// The type to which a column of a kind is cast, so that it compares with literals of the kind.
    static func type(_ kind: TargetKind) -> String {
        switch kind {
        case .text: "text"
        case .number: "numeric"
        case .boolean: "boolean"
        case .time: "timestamptz"
        }
    }
}

enum SQLName {
    /// A name in double quotes, those inside it doubled: whatever it holds, it is one identifier.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
