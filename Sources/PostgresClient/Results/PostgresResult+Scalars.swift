extension PostgresResult {
    /// A `smallint`.
    public func int16(_ row: Int, _ column: Int) throws(PostgresError) -> Int16 {
        try unwrap(int16OrNil(row, column), row, column, "smallint")
    }

    /// A `smallint`, nil for NULL.
    public func int16OrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int16? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .int2, value.count == 2 else { throw mismatch(row, column, "smallint") }
        return value.load(Int16.self)
    }

    /// An `integer` or `smallint`.
    public func int32(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        try unwrap(int32OrNil(row, column), row, column, "integer")
    }

    /// An `integer` or `smallint`, nil for NULL.
    public func int32OrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        guard let value = value(row, column) else { return nil }
        switch (type(column), value.count) {
        case (.int4, 4): return value.load(Int32.self)
        case (.int2, 2): return Int32(value.load(Int16.self))
        default: throw mismatch(row, column, "integer")
        }
    }

    /// A `bigint`, `integer`, `smallint` or `oid`.
    public func int64(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try unwrap(int64OrNil(row, column), row, column, "bigint")
    }

    /// A `bigint`, `integer`, `smallint` or `oid`, nil for NULL.
    public func int64OrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let value = value(row, column) else { return nil }
        switch (type(column), value.count) {
        case (.int8, 8): return value.load(Int64.self)
        case (.int4, 4): return Int64(value.load(Int32.self))
        case (.int2, 2): return Int64(value.load(Int16.self))
        case (.oid, 4): return Int64(value.load(UInt32.self))
        default: throw mismatch(row, column, "bigint")
        }
    }

    /// A `double precision` or `real`.
    public func double(_ row: Int, _ column: Int) throws(PostgresError) -> Double {
        try unwrap(doubleOrNil(row, column), row, column, "double precision")
    }

    /// A `double precision` or `real`, nil for NULL.
    public func doubleOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Double? {
        guard let value = value(row, column) else { return nil }
        switch (type(column), value.count) {
        case (.float8, 8): return Double(bitPattern: value.load(UInt64.self))
        case (.float4, 4): return Double(Float(bitPattern: value.load(UInt32.self)))
        default: throw mismatch(row, column, "double precision")
        }
    }

    /// A `boolean`.
    public func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try unwrap(boolOrNil(row, column), row, column, "boolean")
    }

    /// A `boolean`, nil for NULL.
    public func boolOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Bool? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .bool, let byte = value.first else { throw mismatch(row, column, "boolean") }
        return byte != 0
    }

    /// A `timestamptz` or `timestamp` (read as UTC), in microseconds since 2000-01-01 UTC.
    public func timestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try unwrap(timestampOrNil(row, column), row, column, "timestamptz")
    }

    /// A `timestamptz` or `timestamp` (read as UTC), in microseconds since 2000-01-01 UTC; nil for NULL.
    public func timestampOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let value = value(row, column) else { return nil }
        let type = type(column)
        guard type == .timestamptz || type == .timestamp, value.count == 8 else {
            throw mismatch(row, column, "timestamptz")
        }
        return value.load(Int64.self)
    }

    /// A `timestamptz` or `timestamp` (read as UTC), in microseconds of Unix time.
    public func unixMicroseconds(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try timestamp(row, column) &+ PostgresValue.microsecondsBetweenEpochs
    }

    /// A `timestamptz` or `timestamp` (read as UTC), in microseconds of Unix time; nil for NULL.
    public func unixMicrosecondsOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        try timestampOrNil(row, column).map { $0 &+ PostgresValue.microsecondsBetweenEpochs }
    }

    /// A `date`, in days since 2000-01-01.
    public func date(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        try unwrap(dateOrNil(row, column), row, column, "date")
    }

    /// A `date`, in days since 2000-01-01; nil for NULL.
    public func dateOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .date, value.count == 4 else { throw mismatch(row, column, "date") }
        return value.load(Int32.self)
    }

    /// A `uuid`, nil for NULL.
    public func uuidOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> (high: UInt64, low: UInt64)? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .uuid, value.count == 16 else { throw mismatch(row, column, "uuid") }
        return (value.load(UInt64.self), value.load(UInt64.self, at: 8))
    }

    /// A `uuid`.
    public func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> (high: UInt64, low: UInt64) {
        guard let value = try uuidOrNil(row, column) else { throw mismatch(row, column, "uuid") }
        return value
    }

    /// Makes NULL an error.
    @inline(__always)
    func unwrap<T>(_ value: T?, _ row: Int, _ column: Int, _ wanted: String) throws(PostgresError) -> T {
        guard let value else { throw mismatch(row, column, wanted) }
        return value
    }
}
