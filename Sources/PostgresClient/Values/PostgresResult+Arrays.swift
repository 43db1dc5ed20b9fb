extension PostgresResult {
    /// A `smallint[]` of one dimension without NULLs.
    package func int16Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int16] {
        try unwrap(int16ArrayOrNil(row, column), row, column, "smallint[]")
    }

    /// A `smallint[]` of one dimension without NULLs; nil for NULL.
    package func int16ArrayOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> [Int16]? {
        try array(row, column, .int2, "smallint[]")
    }

    /// An `integer[]` of one dimension without NULLs.
    package func int32Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int32] {
        try unwrap(int32ArrayOrNil(row, column), row, column, "integer[]")
    }

    /// An `integer[]` of one dimension without NULLs; nil for NULL.
    package func int32ArrayOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> [Int32]? {
        try array(row, column, .int4, "integer[]")
    }

    /// A `bigint[]` of one dimension without NULLs.
    package func int64Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int64] {
        try unwrap(int64ArrayOrNil(row, column), row, column, "bigint[]")
    }

    /// A `bigint[]` of one dimension without NULLs; nil for NULL.
    package func int64ArrayOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> [Int64]? {
        try array(row, column, .int8, "bigint[]")
    }

    /// A `text[]` of one dimension, nil for NULL elements.
    package func textArray(_ row: Int, _ column: Int) throws(PostgresError) -> [String?] {
        guard let value = value(row, column), let header = ArrayHeader(value) else {
            throw mismatch(row, column, "text[]")
        }
        var offset = header.length
        var elements: [String?] = []
        guard !PostgresType.notText.contains(header.elementType), header.count <= value.count / 4 else {
            throw mismatch(row, column, "text[]")
        }
        elements.reserveCapacity(header.count)
        for _ in 0..<header.count {
            guard offset + 4 <= value.count else { throw mismatch(row, column, "text[]") }
            let length = Int(value.load(Int32.self, at: offset))
            offset += 4
            guard length >= 0 else {
                elements.append(nil)
                continue
            }
            guard offset + length <= value.count else { throw mismatch(row, column, "text[]") }
            elements.append(String(decoding: value[offset..<(offset + length)], as: UTF8.self))
            offset += length
        }
        return elements
    }

    private func array<T: FixedWidthInteger & BitwiseCopyable>(
        _ row: Int,
        _ column: Int,
        _ element: PostgresType,
        _ wanted: String
    ) throws(PostgresError) -> [T]? {
        guard let value = value(row, column) else { return nil }
        let size = MemoryLayout<T>.size
        // A NULL element has no bytes, so the total length reveals it. Each element has a length prefix of 4 bytes.
        guard let header = ArrayHeader(value), header.count == 0 || header.elementType == element,
            value.count == header.length + header.count * (4 + size)
        else { throw mismatch(row, column, wanted + " without NULLs") }
        return [T](unsafeUninitializedCapacity: header.count) { buffer, count in
            for index in 0..<header.count {
                let offset = header.length + index * (4 + size) + 4
                buffer.initializeElement(at: index, to: value.load(T.self, at: offset))
            }
            count = header.count
        }
    }
}

extension PostgresResult {
    /// Appends a whole `bigint` column without NULLs: the fast way to read many rows.
    package func appendColumn(_ column: Int, to values: inout [Int64]) throws(PostgresError) {
        guard rowCount > 0 else { return }
        guard type(column) == .int8 else { throw mismatch(0, column, "bigint") }
        values.reserveCapacity(values.count + rowCount)
        for row in 0..<rowCount {
            guard let value = value(row, column), value.count == 8 else { throw mismatch(row, column, "bigint") }
            values.append(value.load(Int64.self))
        }
    }

    /// Appends a whole `integer` column without NULLs: the fast way to read many rows.
    package func appendColumn(_ column: Int, to values: inout [Int32]) throws(PostgresError) {
        guard rowCount > 0 else { return }
        guard type(column) == .int4 else { throw mismatch(0, column, "integer") }
        values.reserveCapacity(values.count + rowCount)
        for row in 0..<rowCount {
            guard let value = value(row, column), value.count == 4 else { throw mismatch(row, column, "integer") }
            values.append(value.load(Int32.self))
        }
    }

    /// Appends a whole `smallint` column without NULLs: the fast way to read many rows.
    package func appendColumn(_ column: Int, to values: inout [Int16]) throws(PostgresError) {
        guard rowCount > 0 else { return }
        guard type(column) == .int2 else { throw mismatch(0, column, "smallint") }
        values.reserveCapacity(values.count + rowCount)
        for row in 0..<rowCount {
            guard let value = value(row, column), value.count == 2 else { throw mismatch(row, column, "smallint") }
            values.append(value.load(Int16.self))
        }
    }
}

/// The head of an array's binary format: dimensions, a flag, the element type, then length and lower bound of each
/// dimension (the server's `array_send`).
struct ArrayHeader {
    let elementType: PostgresType
    let count: Int
    let length: Int

    /// Reads the head; nil for more than one dimension, or if the value is not an array.
    init?(_ value: UnsafeRawBufferPointer) {
        guard value.count >= 12 else { return nil }
        elementType = PostgresType(rawValue: value.load(UInt32.self, at: 8))
        switch value.load(Int32.self) {
        case 0:
            count = 0
            length = 12
        case 1 where value.count >= 20:
            count = Int(value.load(Int32.self, at: 12))
            length = 20
            guard count >= 0 else { return nil }
        default:
            return nil
        }
    }
}
