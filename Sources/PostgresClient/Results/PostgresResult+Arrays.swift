extension PostgresResult {
    /// A `smallint[]` of one dimension without NULLs.
    public func int16Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int16] {
        try unwrap(int16ArrayOrNil(row, column), row, column, "smallint[]")
    }

    /// A `smallint[]` of one dimension without NULLs; nil for NULL.
    public func int16ArrayOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> [Int16]? {
        try array(row, column, .int2, "smallint[]")
    }

    /// An `integer[]` of one dimension without NULLs.
    public func int32Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int32] {
        try unwrap(int32ArrayOrNil(row, column), row, column, "integer[]")
    }

    /// An `integer[]` of one dimension without NULLs; nil for NULL.
    public func int32ArrayOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> [Int32]? {
        try array(row, column, .int4, "integer[]")
    }

    /// A `bigint[]` of one dimension without NULLs.
    public func int64Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int64] {
        try unwrap(int64ArrayOrNil(row, column), row, column, "bigint[]")
    }

    /// A `bigint[]` of one dimension without NULLs; nil for NULL.
    public func int64ArrayOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> [Int64]? {
        try array(row, column, .int8, "bigint[]")
    }

    /// A `text[]` of one dimension, nil for NULL elements.
    public func textArray(_ row: Int, _ column: Int) throws(PostgresError) -> [String?] {
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
        // A NULL element has no bytes, so that the total length finds it; each element's length is 4 bytes.
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
