/// A PostgreSQL type by its object identifier (the fixed ones of `pg_type.dat`).
public struct PostgresType: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The object identifier.
    public let rawValue: UInt32

    /// Makes a type of an object identifier.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Lets the server find the type.
    public static let unspecified = PostgresType(rawValue: 0)
    /// `boolean`.
    public static let bool = PostgresType(rawValue: 16)
    public static let bytea = PostgresType(rawValue: 17)
    /// `bigint`.
    public static let int8 = PostgresType(rawValue: 20)
    /// `smallint`.
    public static let int2 = PostgresType(rawValue: 21)
    /// `integer`.
    public static let int4 = PostgresType(rawValue: 23)
    public static let text = PostgresType(rawValue: 25)
    public static let oid = PostgresType(rawValue: 26)
    /// `real`.
    public static let float4 = PostgresType(rawValue: 700)
    /// `double precision`.
    public static let float8 = PostgresType(rawValue: 701)
    public static let date = PostgresType(rawValue: 1082)
    /// `timestamp without time zone`.
    public static let timestamp = PostgresType(rawValue: 1114)
    /// `timestamp with time zone`.
    public static let timestamptz = PostgresType(rawValue: 1184)
    public static let numeric = PostgresType(rawValue: 1700)
    /// `bit varying`.
    public static let varbit = PostgresType(rawValue: 1562)
    public static let uuid = PostgresType(rawValue: 2950)
    public static let jsonb = PostgresType(rawValue: 3802)
    /// `boolean[]`.
    public static let boolArray = PostgresType(rawValue: 1000)
    /// `smallint[]`.
    public static let int2Array = PostgresType(rawValue: 1005)
    /// `integer[]`.
    public static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`.
    public static let textArray = PostgresType(rawValue: 1009)
    /// `bigint[]`.
    public static let int8Array = PostgresType(rawValue: 1016)
    /// `double precision[]`.
    public static let float8Array = PostgresType(rawValue: 1022)
    /// `timestamp with time zone[]`.
    public static let timestamptzArray = PostgresType(rawValue: 1185)
    /// `bit varying[]`.
    public static let varbitArray = PostgresType(rawValue: 1563)
    /// `uuid[]`.
    public static let uuidArray = PostgresType(rawValue: 2951)

    /// Types whose binary form is not text; of others (text, varchar, json, enums, …) the bytes are the text.
    static let notText: Set<PostgresType> = [
        .bool, .bytea, .int2, .int4, .int8, .oid, .float4, .float8, .date, .timestamp, .timestamptz, .numeric,
        .boolArray, .int2Array, .int4Array, .int8Array, .textArray, .float8Array, .timestamptzArray,
        .varbit, .varbitArray, .uuidArray,
    ]

    /// The SQL name of the types known here, else `type 12345`.
    public var description: String {
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
