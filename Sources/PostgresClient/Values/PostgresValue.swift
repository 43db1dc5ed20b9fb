/// A parameter of a statement, with its type; all travel in PostgreSQL's binary format.
///
/// Arrays are meant for `unnest($1::bigint[], …)`: one buffer a parameter, no allocation an element.
public enum PostgresValue: Sendable, Hashable {
    /// NULL of the type that the server finds.
    case null
    /// `smallint`.
    case int16(Int16)
    /// `integer`.
    case int32(Int32)
    /// `bigint`.
    case int64(Int64)
    /// `boolean`.
    case bool(Bool)
    /// `double precision`.
    case double(Double)
    /// `text`.
    case text(String)
    /// `bytea`.
    case bytes([UInt8])
    /// `jsonb` of this JSON text.
    case json(String)
    /// `timestamptz`; see ``timestamp(microsecondsSince1970:)``.
    case timestamp(microsecondsSince2000: Int64)
    /// `date`.
    case date(daysSince2000: Int32)
    /// `uuid`.
    case uuid(high: UInt64, low: UInt64)
    /// `boolean[]`.
    case boolArray([Bool])
    /// `smallint[]`.
    case int16Array([Int16])
    /// `integer[]`.
    case int32Array([Int32])
    /// `bigint[]`.
    case int64Array([Int64])
    /// `double precision[]`.
    case doubleArray([Double])
    /// `timestamptz[]`.
    case timestampArray(microsecondsSince2000: [Int64])
    /// `text[]`, nil for NULL.
    case textArray([String?])
    /// `smallint[]`, nil for NULL.
    case int16ArrayWithNulls([Int16?])
    /// `integer[]`, nil for NULL.
    case int32ArrayWithNulls([Int32?])
    /// `bigint[]`, nil for NULL.
    case int64ArrayWithNulls([Int64?])
    /// `text[]` of values that lie back to back in one buffer, each up to its end; `isNull` may be empty for none.
    case bytesColumnAsText(bytes: [UInt8], ends: [Int32], isNull: [Bool] = [])
    /// `bytea[]` of values that lie back to back in one buffer, each up to its end; `isNull` may be empty for none.
    case bytesColumn(bytes: [UInt8], ends: [Int32], isNull: [Bool] = [])
    /// `uuid[]` of values of 16 bytes that lie back to back in one buffer.
    case uuidColumn(bytes: [UInt8])

    /// PostgreSQL counts time from 2000-01-01 UTC, Unix from 1970-01-01: 10,957 days.
    static let microsecondsBetweenEpochs: Int64 = 10_957 * 86_400 * 1_000_000

    /// `timestamptz` of Unix time in microseconds.
    public static func timestamp(microsecondsSince1970 microseconds: Int64) -> PostgresValue {
        .timestamp(microsecondsSince2000: microseconds &- microsecondsBetweenEpochs)
    }

    /// `text`, or NULL for nil.
    public static func textOrNull(_ text: String?) -> PostgresValue {
        if let text { .text(text) } else { .null }
    }

    /// The type that the parameter is declared with.
    public var type: PostgresType {
        switch self {
        case .null: .unspecified
        case .int16: .int2
        case .int32: .int4
        case .int64: .int8
        case .bool: .bool
        case .double: .float8
        case .text: .text
        case .bytes: .bytea
        case .json: .jsonb
        case .timestamp: .timestamptz
        case .date: .date
        case .uuid: .uuid
        case .boolArray: .boolArray
        case .int16Array, .int16ArrayWithNulls: .int2Array
        case .int32Array, .int32ArrayWithNulls: .int4Array
        case .int64Array, .int64ArrayWithNulls: .int8Array
        case .doubleArray: .float8Array
        case .timestampArray: .timestamptzArray
        case .textArray, .bytesColumnAsText: .textArray
        case .bytesColumn: .byteaArray
        case .uuidColumn: .uuidArray
        }
    }
}
