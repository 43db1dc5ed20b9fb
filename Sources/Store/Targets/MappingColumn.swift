import PushCore

/// A column of a mapping's view.
package struct MappingColumn: Sendable, Hashable {
    package let name: String
    /// The type, as PostgreSQL writes it.
    package let type: String
    /// The condition that alias `m` is the row of `k.user_key`, if this is the key column
    /// (`pushmta_engine.key_condition`).
    let keyCondition: String

    /// The column's kind in filters; a type of no other kind is a text.
    package var kind: TargetKind {
        // The base type also lacks what follows the modifiers, as in timestamp(3) with time zone.
        switch baseType {
        case "smallint", "integer", "bigint", "numeric", "real", "double precision", "money": .number
        case "boolean": .boolean
        case "date", "timestamp", "timestamp with time zone", "timestamp without time zone": .time
        default: .text
        }
    }

    /// The type without its modifiers.
    var baseType: Substring { type.prefix { $0 != "(" } }

    /// The column of alias `m` for comparisons in filters. NaN counts as absent, because PostgreSQL would sort it above
    /// all numbers.
    var filterSQL: String {
        let column = "m.\(SQLName.quoted(name))::\(Self.type(kind))"
        return switch baseType {
        case "numeric", "real", "double precision": "NULLIF(\(column), 'NaN')"
        default: column
        }
    }

    /// The type to which a column of a kind is cast, so that it can be compared with literals of that kind.
    static func type(_ kind: TargetKind) -> String {
        switch kind {
        case .text: "text"
        case .number: "numeric"
        case .boolean: "boolean"
        case .time: "timestamptz"
        }
    }
}
