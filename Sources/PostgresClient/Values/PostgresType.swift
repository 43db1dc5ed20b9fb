/// A PostgreSQL type, by its object identifier (those fixed in `pg_type.dat`).
package struct PostgresType: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The object identifier.
    package let rawValue: UInt32

    /// Makes a type from an object identifier.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Lets the server infer the type.
    package static let unspecified = PostgresType(rawValue: 0)
    /// `boolean`.
    package static let bool = PostgresType(rawValue: 16)
    package static let bytea = PostgresType(rawValue: 17)
    /// `bigint`.
    package static let int8 = PostgresType(rawValue: 20)
    /// `smallint`.
    package static let int2 = PostgresType(rawValue: 21)
    /// `integer`.
    package static let int4 = PostgresType(rawValue: 23)
    package static let text = PostgresType(rawValue: 25)
    package static let oid = PostgresType(rawValue: 26)
    /// `real`.
    package static let float4 = PostgresType(rawValue: 700)
    /// `double precision`.
    package static let float8 = PostgresType(rawValue: 701)
    package static let date = PostgresType(rawValue: 1082)
    /// `timestamp without time zone`.
    package static let timestamp = PostgresType(rawValue: 1114)
    /// `timestamp with time zone`.
    package static let timestamptz = PostgresType(rawValue: 1184)
    package static let numeric = PostgresType(rawValue: 1700)
    /// `bit varying`.
    package static let varbit = PostgresType(rawValue: 1562)
    package static let uuid = PostgresType(rawValue: 2950)
    package static let jsonb = PostgresType(rawValue: 3802)
    /// `boolean[]`.
    package static let boolArray = PostgresType(rawValue: 1000)
    /// `smallint[]`.
    package static let int2Array = PostgresType(rawValue: 1005)
    /// `integer[]`.
    package static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`.
    package static let textArray = PostgresType(rawValue: 1009)
    /// `bigint[]`.
    package static let int8Array = PostgresType(rawValue: 1016)
    /// `double precision[]`.
    package static let float8Array = PostgresType(rawValue: 1022)
    /// `timestamp with time zone[]`.
    package static let timestamptzArray = PostgresType(rawValue: 1185)
    /// `bit varying[]`.
    package static let varbitArray = PostgresType(rawValue: 1563)
    /// `uuid[]`.
    package static let uuidArray = PostgresType(rawValue: 2951)

    /// Types whose binary format is not text. For others (text, varchar, json, enums, …) the bytes are the text.
    static let notText: Set<PostgresType> = [
        .bool, .bytea, .int2, .int4, .int8, .oid, .float4, .float8, .date, .timestamp, .timestamptz, .numeric,
        .boolArray, .int2Array, .int4Array, .int8Array, .textArray, .float8Array, .timestamptzArray,
        .varbit, .varbitArray, .uuidArray,
    ]

    /// The SQL name of the types known here; `type 12345` for others.
    package var description: String {
        switch self {
        case .bool: "boolean"
        case .bytea: "bytea"
        case .int8: "bigint"
        case .int2: "smallint"
        case .int4: "integer"
        case .text: "text"
        case .float4: "real"
        case .float8: "double precision"
        case .date: "date"
        case .timestamp: "timestamp"
        case .timestamptz: "timestamptz"
        case .numeric: "numeric"
        case .varbit: "bit varying"
        case .uuid: "uuid"
        case .jsonb: "jsonb"
        default: "type \(rawValue)"
        }
    }
}
