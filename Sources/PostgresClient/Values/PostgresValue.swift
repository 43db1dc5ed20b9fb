import PushCore

/// A parameter of a statement, with its type; sent in PostgreSQL's binary format.
///
/// Arrays are meant for `unnest($1::bigint[], …)`: one buffer per parameter, no allocation per element.
package enum PostgresValue: Sendable, Hashable {
    /// NULL of the type that the server infers.
    case null
    /// `smallint`.
    case int16(Int16)
    /// `integer`.
    case int32(Int32)
    /// `bigint`.
    case int64(Int64)
    case bool(Bool)
    /// `double precision`.
    case double(Double)
    case text(String)
    /// `bytea`.
    case bytes([UInt8])
    /// `jsonb`, from this JSON text.
    case json(String)
    /// `timestamptz`; see ``timestamp(microsecondsSince1970:)``.
    case timestamp(microsecondsSince2000: Int64)
    case date(daysSince2000: Int32)
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
    /// `text[]`; nil for NULL.
    case textArray([String?])
    /// `smallint[]`; nil for NULL.
    case int16ArrayWithNulls([Int16?])
    /// `integer[]`; nil for NULL.
    case int32ArrayWithNulls([Int32?])
    /// `bigint[]`; nil for NULL.
    case int64ArrayWithNulls([Int64?])
    /// `text[]` of values stored back to back in one buffer.
    case textColumn(ByteColumn)
    /// `uuid[]` of 16-byte values stored back to back in one buffer.
    case uuidColumn(bytes: [UInt8])
    /// `bit varying[]` of strings of `bits` bits each, a multiple of 8, stored back to back in one buffer.
    case bitsColumn(bytes: [UInt8], bits: Int)

    /// PostgreSQL counts time from 2000-01-01 UTC, Unix from 1970-01-01; the difference is 10,957 days.
    static let microsecondsBetweenEpochs: Int64 = 10_957 * 86_400 * 1_000_000

    /// `timestamptz`, from Unix time in microseconds.
    package static func timestamp(microsecondsSince1970 microseconds: Int64) -> PostgresValue {
        .timestamp(microsecondsSince2000: microseconds &- microsecondsBetweenEpochs)
    }

    /// `text`, or NULL for nil.
    package static func textOrNull(_ text: String?) -> PostgresValue {
        if let text { .text(text) } else { .null }
    }

    /// The declared type of the parameter.
    package var type: PostgresType {
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
        case .textArray, .textColumn: .textArray
        case .uuidColumn: .uuidArray
        case .bitsColumn: .varbitArray
        }
    }
}

extension PostgresValue {
    /// The size of the head of a one-dimensional array, in bytes.
    private static let arrayHeadSize = 20

    /// The maximum number of bytes that ``write(to:)`` writes.
    var encodedSize: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int16: 2
        case .int32, .date: 4
        case .int64, .double, .timestamp: 8
        case .uuid: 16
        case .text(let text): text.utf8.count
        case .json(let text): text.utf8.count + 1
        case .bytes(let bytes): bytes.count
        case .boolArray(let elements): Self.arrayHeadSize + elements.count * 5
        case .int16Array(let elements): Self.arrayHeadSize + elements.count * 6
        case .int16ArrayWithNulls(let elements): Self.arrayHeadSize + elements.count * 6
        case .int32Array(let elements): Self.arrayHeadSize + elements.count * 8
        case .int32ArrayWithNulls(let elements): Self.arrayHeadSize + elements.count * 8
        case .int64Array(let elements): Self.arrayHeadSize + elements.count * 12
        case .int64ArrayWithNulls(let elements): Self.arrayHeadSize + elements.count * 12
        case .doubleArray(let elements): Self.arrayHeadSize + elements.count * 12
        case .timestampArray(let elements): Self.arrayHeadSize + elements.count * 12
        case .textArray(let elements):
            elements.reduce(Self.arrayHeadSize + elements.count * 4) { $0 + ($1?.utf8.count ?? 0) }
        case .textColumn(let column): Self.arrayHeadSize + column.count * 4 + column.bytes.count
        case .uuidColumn(let bytes): Self.arrayHeadSize + bytes.count / 16 * 20
        case .bitsColumn(let bytes, let bits): Self.arrayHeadSize + bytes.count / max(1, bits / 8) * 8 + bytes.count
        }
    }

    /// Whether a column's length is a multiple of its value size; always true for other values.
    var isWellFormed: Bool {
        switch self {
        case .uuidColumn(let bytes):
            return bytes.count % 16 == 0
        case .bitsColumn(let bytes, let bits):
            return bits > 0 && bits % 8 == 0 && bytes.count % (bits / 8) == 0
        default:
            return true
        }
    }

    /// Writes the binary format that the type's receive function at the server reads.
    func write(to writer: inout BinaryWriter) {
        switch self {
        case .null: break
        case .bool(let value): writer.integer(UInt8(value ? 1 : 0))
        case .int16(let value): writer.integer(value)
        case .int32(let value), .date(let value): writer.integer(value)
        case .int64(let value), .timestamp(let value): writer.integer(value)
        case .double(let value): writer.integer(value.bitPattern)
        case .uuid(let high, let low):
            writer.integer(high)
            writer.integer(low)
        case .text(let text): writer.text(text)
        case .json(let text):
            // The version of jsonb's binary format.
            writer.integer(UInt8(1))
            writer.text(text)
        case .bytes(let bytes): writer.bytes(bytes)
        default: writeArray(to: &writer)
        }
    }

    private func writeArray(to writer: inout BinaryWriter) {
        switch self {
        case .boolArray(let elements): writer.array(elements.map { UInt8($0 ? 1 : 0) }, .bool)
        case .int16Array(let elements): writer.array(elements, .int2)
        case .int16ArrayWithNulls(let elements): writer.array(elements, .int2)
        case .int32Array(let elements): writer.array(elements, .int4)
        case .int32ArrayWithNulls(let elements): writer.array(elements, .int4)
        case .int64Array(let elements): writer.array(elements, .int8)
        case .int64ArrayWithNulls(let elements): writer.array(elements, .int8)
        case .timestampArray(let elements): writer.array(elements, .timestamptz)
        case .doubleArray(let elements):
            writer.array(elements.map(\.bitPattern), .float8)
        case .textArray(let elements):
            writer.arrayHeader(.text, count: elements.count, hasNulls: elements.contains { $0 == nil })
            for element in elements { writer.element(element) }
        case .textColumn(let column):
            writer.arrayHeader(.text, count: column.count, hasNulls: (0..<column.count).contains(where: column.isNull))
            for row in 0..<column.count { writer.element(column, row) }
        case .uuidColumn(let bytes):
            writer.pieces(of: bytes, size: 16, .uuid)
        case .bitsColumn(let bytes, let bits):
            writer.pieces(of: bytes, size: bits / 8, .varbit, bits: Int32(truncatingIfNeeded: bits))
        default: break
        }
    }
}
