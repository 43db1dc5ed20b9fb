import CLibPQ

/// The rows that a statement returned, in libpq's memory; reading a value copies only that value.
///
/// Rows and columns are numbered from 0. Values are in binary format; each accessor checks the column's type.
///
/// `@unchecked Sendable`: libpq never changes a `PGresult` after handing it over, and only `deinit` frees it.
package final class PostgresResult: @unchecked Sendable {
    let handle: OpaquePointer
    package let rowCount: Int
    package let columnCount: Int
    /// The column types, cached so that an accessor's check is one load.
    private let types: [PostgresType]

    /// Takes ownership of the libpq result.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(PQntuples(handle))
        columnCount = Int(PQnfields(handle))
        types = (0..<PQnfields(handle)).map { PostgresType(rawValue: PQftype(handle, $0)) }
    }

    deinit { PQclear(handle) }

    /// The number of rows inserted, updated, deleted, moved or returned, from the command tag; 0 for other commands.
    package var affectedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The server's command tag, for example `INSERT 0 1`.
    package var commandTag: String { String(cString: PQcmdStatus(handle)) }

    /// The column's type; ``PostgresType/unspecified`` if there is no such column.
    package func type(_ column: Int) -> PostgresType {
        types.indices.contains(column) ? types[column] : .unspecified
    }

    /// The column's name; empty if there is no such column.
    package func name(_ column: Int) -> String {
        guard types.indices.contains(column), let name = PQfname(handle, Int32(column)) else { return "" }
        return String(cString: name)
    }

    /// The index of the first column with this name (after SQL's case folding); nil if there is none.
    package func column(_ name: String) -> Int? {
        (0..<columnCount).first { self.name($0) == name }
    }

    /// Whether the value is NULL; also true outside the result.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        value(row, column) == nil
    }

    /// The bytes of a value, which live as long as the result; nil for NULL and outside the result.
    @inline(__always)
    func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard row >= 0, row < rowCount, column >= 0, column < columnCount else { return nil }
        let row = Int32(truncatingIfNeeded: row)
        let column = Int32(truncatingIfNeeded: column)
        let length = Int(PQgetlength(handle, row, column))
        // Only a length of 0 can be NULL, which saves a call for all other values.
        if length == 0, PQgetisnull(handle, row, column) != 0 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: length)
    }

    /// The error for a value that is NULL, of another type, or outside the result.
    func mismatch(_ row: Int, _ column: Int, _ wanted: String) -> PostgresError {
        guard types.indices.contains(column), row >= 0, row < rowCount else {
            return PostgresError(
                code: .type,
                message:
                    "there is no row \(row), column \(column) in a result of \(rowCount) rows and \(columnCount) columns"
            )
        }
        let found = isNull(row, column) ? "NULL" : type(column).description
        return PostgresError(
            code: .type,
            message: "column \(name(column)) is \(found), but \(wanted) was requested; cast it in the statement"
        )
    }
}

extension PostgresResult {
    /// A `smallint`.
    package func int16(_ row: Int, _ column: Int) throws(PostgresError) -> Int16 {
        try unwrap(int16OrNil(row, column), row, column, "smallint")
    }

    /// A `smallint`, nil for NULL.
    package func int16OrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int16? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .int2, value.count == 2 else { throw mismatch(row, column, "smallint") }
        return value.load(Int16.self)
    }

    /// An `integer` or `smallint`.
    package func int32(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        try unwrap(int32OrNil(row, column), row, column, "integer")
    }

    /// An `integer` or `smallint`, nil for NULL.
    package func int32OrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        guard let value = value(row, column) else { return nil }
        switch (type(column), value.count) {
        case (.int4, 4): return value.load(Int32.self)
        case (.int2, 2): return Int32(value.load(Int16.self))
        default: throw mismatch(row, column, "integer")
        }
    }

    /// A `bigint`, `integer`, `smallint` or `oid`.
    package func int64(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try unwrap(int64OrNil(row, column), row, column, "bigint")
    }

    /// A `bigint`, `integer`, `smallint` or `oid`, nil for NULL.
    package func int64OrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
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
    package func double(_ row: Int, _ column: Int) throws(PostgresError) -> Double {
        try unwrap(doubleOrNil(row, column), row, column, "double precision")
    }

    /// A `double precision` or `real`, nil for NULL.
    package func doubleOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Double? {
        guard let value = value(row, column) else { return nil }
        switch (type(column), value.count) {
        case (.float8, 8): return Double(bitPattern: value.load(UInt64.self))
        case (.float4, 4): return Double(Float(bitPattern: value.load(UInt32.self)))
        default: throw mismatch(row, column, "double precision")
        }
    }

    package func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try unwrap(boolOrNil(row, column), row, column, "boolean")
    }

    /// A `boolean`, nil for NULL.
    package func boolOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Bool? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .bool, let byte = value.first else { throw mismatch(row, column, "boolean") }
        return byte != 0
    }

    /// A `timestamptz` or `timestamp` (read as UTC), in microseconds since 2000-01-01 UTC.
    package func timestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try unwrap(timestampOrNil(row, column), row, column, "timestamptz")
    }

    /// A `timestamptz` or `timestamp` (read as UTC), in microseconds since 2000-01-01 UTC; nil for NULL.
    package func timestampOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let value = value(row, column) else { return nil }
        let type = type(column)
        guard type == .timestamptz || type == .timestamp, value.count == 8 else {
            throw mismatch(row, column, "timestamptz")
        }
        return value.load(Int64.self)
    }

    /// A `date`, in days since 2000-01-01.
    package func date(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        try unwrap(dateOrNil(row, column), row, column, "date")
    }

    /// A `date`, in days since 2000-01-01; nil for NULL.
    package func dateOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .date, value.count == 4 else { throw mismatch(row, column, "date") }
        return value.load(Int32.self)
    }

    /// A `uuid`, nil for NULL.
    package func uuidOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> (high: UInt64, low: UInt64)? {
        guard let value = value(row, column) else { return nil }
        guard type(column) == .uuid, value.count == 16 else { throw mismatch(row, column, "uuid") }
        return (value.load(UInt64.self), value.load(UInt64.self, at: 8))
    }

    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> (high: UInt64, low: UInt64) {
        guard let value = try uuidOrNil(row, column) else { throw mismatch(row, column, "uuid") }
        return value
    }

    /// Throws for NULL.
    @inline(__always)
    func unwrap<T>(_ value: T?, _ row: Int, _ column: Int, _ wanted: String) throws(PostgresError) -> T {
        guard let value else { throw mismatch(row, column, wanted) }
        return value
    }
}

extension PostgresResult {
    /// Text, from any type whose binary format is text (text, varchar, name, enums), and from json, jsonb and uuid.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        try unwrap(textOrNil(row, column), row, column, "text")
    }

    /// Text as ``text(_:_:)`` reads it; nil for NULL.
    package func textOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        guard let value = value(row, column) else { return nil }
        let type = type(column)
        if type == .uuid, value.count == 16 { return Self.uuidText(value) }
        guard !PostgresType.notText.contains(type) else { throw mismatch(row, column, "text") }
        return String(decoding: Self.payload(value, type), as: UTF8.self)
    }

    /// A value's bytes: the bytes of a `bytea`, the UTF-8 of a text, PostgreSQL's binary format of other types.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        try unwrap(bytesOrNil(row, column), row, column, "bytea")
    }

    /// A value's bytes as ``bytes(_:_:)`` reads them; nil for NULL.
    package func bytesOrNil(_ row: Int, _ column: Int) -> [UInt8]? {
        value(row, column).map { [UInt8](Self.payload($0, type(column))) }
    }

    /// Appends a value's bytes, as ``bytes(_:_:)`` returns them, without an allocation of its own.
    ///
    /// - Returns: false for NULL, which appends nothing.
    @inline(__always)
    package func append(_ row: Int, _ column: Int, to buffer: inout [UInt8]) -> Bool {
        guard let value = value(row, column) else { return false }
        buffer.append(contentsOf: Self.payload(value, type(column)))
        return true
    }

    /// Compares a value's bytes, as ``bytes(_:_:)`` returns them, without copying; false for NULL.
    package func equals(_ row: Int, _ column: Int, _ text: String) -> Bool {
        guard let value = value(row, column) else { return false }
        return Self.payload(value, type(column)).elementsEqual(text.utf8)
    }

    /// jsonb's binary format starts with a version byte (1), which is not part of the value.
    @inline(__always)
    private static func payload(_ value: UnsafeRawBufferPointer, _ type: PostgresType) -> UnsafeRawBufferPointer {
        type == .jsonb && !value.isEmpty ? UnsafeRawBufferPointer(rebasing: value[1...]) : value
    }

    private static func uuidText(_ value: UnsafeRawBufferPointer) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in value.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a big-endian integer; the caller has checked the length.
    @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int = 0) -> T {
        T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }
}
