extension PostgresValue {
    /// Head of an array of one dimension.
    private static let arrayHeadSize = 20

    /// How many bytes ``write(to:)`` needs at most.
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
        case .bytesColumnAsText(let bytes, let ends, _), .bytesColumn(let bytes, let ends, _):
            Self.arrayHeadSize + ends.count * 4 + bytes.count
        case .uuidColumn(let bytes): Self.arrayHeadSize + bytes.count / 16 * 20
        }
    }

    /// Whether a column's parts fit together; always true of other values.
    var isWellFormed: Bool {
        switch self {
        case .bytesColumnAsText(let bytes, let ends, let isNull), .bytesColumn(let bytes, let ends, let isNull):
            guard isNull.isEmpty || isNull.count == ends.count else { return false }
            var previous: Int32 = 0
            for end in ends {
                guard end >= previous else { return false }
                previous = end
            }
            return Int(previous) <= bytes.count
        case .uuidColumn(let bytes):
            return bytes.count % 16 == 0
        default:
            return true
        }
    }

    /// Writes the binary form that the server's receive function of the type reads.
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
            // The version of jsonb's binary form.
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
        case .bytesColumnAsText(let bytes, let ends, let isNull): writer.column(bytes, ends, isNull, .text)
        case .bytesColumn(let bytes, let ends, let isNull): writer.column(bytes, ends, isNull, .bytea)
        case .uuidColumn(let bytes):
            writer.arrayHeader(.uuid, count: bytes.count / 16)
            bytes.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 16) {
                    writer.integer(Int32(16))
                    writer.bytes(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 16)]))
                }
            }
        default: break
        }
    }
}
