import PushCore

/// A registered view in which user keys reconcile with people, as it can be read now.
public struct TargetMapping: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name, unique.
    public let name: String
    /// Its name for people.
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
    /// Rows of alias `m` whose key is a user key: written so that an index of the key column serves, whatever its type.
    func keyCondition(userKey: String) -> String {
        let key = "m." + SQLName.quoted(keyColumn.name)
        return switch keyColumn.baseType {
        case "text", "character varying", "citext", "name": "\(key) = \(userKey)"
        // As the number is written: 007 is not 7.
        case "smallint", "integer", "bigint":
            "\(key) = CASE WHEN \(userKey) ~ '^(0|-?[1-9][0-9]{0,17})$' THEN \(userKey)::bigint END"
        case "uuid":
            "\(key) = CASE WHEN \(userKey) ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN \(userKey)::uuid END"
        default: "\(key)::text = \(userKey)"
        }
    }

    /// A join that adds alias `m` with these columns as texts under their own names, all null if the user key has no row. Of
    /// several rows of a key any one counts.
    ///
    /// - Parameter userKey: the user key as the statement has it, for example `s.user_key`.
    func lateralJoin(columns: [String], userKey: String) throws -> String {
        let list = try columns.map { name in
            let quoted = SQLName.quoted(try column(name).name)
            return "m.\(quoted)::text AS \(quoted)"
        }
        return """
            LEFT JOIN LATERAL (SELECT \(list.joined(separator: ", ")) FROM \(view) m
                WHERE \(userKey) <> '' AND \(keyCondition(userKey: userKey)) LIMIT 1) m ON true
            """
    }
}

/// A column of a mapping's view.
public struct MappingColumn: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Its type as PostgreSQL writes it.
    public let type: String

    /// A column.
    public init(name: String, type: String) {
        self.name = name
        self.type = type
    }

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

/// Identifiers in SQL text.
enum SQLName {
    /// A name in double quotes, those inside it doubled: whatever it holds, it is one identifier.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
