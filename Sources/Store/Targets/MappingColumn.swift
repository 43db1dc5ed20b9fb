import PushCore

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
