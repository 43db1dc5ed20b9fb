extension PostgresResult {
    /// Appends a whole `bigint` column without NULLs, the quick way to read many rows.
    public func appendColumn(_ column: Int, to values: inout [Int64]) throws(PostgresError) {
        guard rowCount > 0 else { return }
        guard type(column) == .int8 else { throw mismatch(0, column, "bigint") }
        values.reserveCapacity(values.count + rowCount)
        for row in 0..<rowCount {
            guard let value = value(row, column), value.count == 8 else { throw mismatch(row, column, "bigint") }
            values.append(value.load(Int64.self))
        }
    }

    /// Appends a whole `integer` column without NULLs, the quick way to read many rows.
    public func appendColumn(_ column: Int, to values: inout [Int32]) throws(PostgresError) {
        guard rowCount > 0 else { return }
        guard type(column) == .int4 else { throw mismatch(0, column, "integer") }
        values.reserveCapacity(values.count + rowCount)
        for row in 0..<rowCount {
            guard let value = value(row, column), value.count == 4 else { throw mismatch(row, column, "integer") }
            values.append(value.load(Int32.self))
        }
    }

    /// Appends a whole `smallint` column without NULLs, the quick way to read many rows.
    public func appendColumn(_ column: Int, to values: inout [Int16]) throws(PostgresError) {
        guard rowCount > 0 else { return }
        guard type(column) == .int2 else { throw mismatch(0, column, "smallint") }
        values.reserveCapacity(values.count + rowCount)
        for row in 0..<rowCount {
            guard let value = value(row, column), value.count == 2 else { throw mismatch(row, column, "smallint") }
            values.append(value.load(Int16.self))
        }
    }
}
