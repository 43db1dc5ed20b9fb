import CLibPQ

/// The rows that a statement returned, in libpq's own memory; reading a value copies nothing but the value.
///
/// Rows and columns count from 0. Values are in binary format; an accessor checks the column's type.
///
/// `@unchecked Sendable`: libpq never changes a `PGresult` after handing it over, and only `deinit` frees it.
public final class PostgresResult: @unchecked Sendable {
    let handle: OpaquePointer
    /// The number of rows.
    public let rowCount: Int
    /// The number of columns.
    public let columnCount: Int
    /// The column types, so that an accessor's check is one load.
    private let types: [PostgresType]

    /// Takes over the libpq result.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(PQntuples(handle))
        columnCount = Int(PQnfields(handle))
        types = (0..<PQnfields(handle)).map { PostgresType(rawValue: PQftype(handle, $0)) }
    }

    deinit { PQclear(handle) }

    /// Rows inserted, updated, deleted, moved or returned, by the server's command tag; 0 for other commands.
    public var affectedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The server's command tag, for example `INSERT 0 1`.
    public var commandTag: String { String(cString: PQcmdStatus(handle)) }

    /// The column's type; ``PostgresType/unspecified`` when there is no such column.
    public func type(_ column: Int) -> PostgresType {
        types.indices.contains(column) ? types[column] : .unspecified
    }

    /// The column's name; empty when there is no such column.
    public func name(_ column: Int) -> String {
        guard types.indices.contains(column), let name = PQfname(handle, Int32(column)) else { return "" }
        return String(cString: name)
    }

    /// The place of the first column with that name (as in SQL after folding), nil when there is none.
    public func column(_ name: String) -> Int? {
        (0..<columnCount).first { self.name($0) == name }
    }

    /// Whether the value is NULL; also true outside of the result.
    public func isNull(_ row: Int, _ column: Int) -> Bool {
        value(row, column) == nil
    }

    /// The bytes of a value, which live as long as the result; nil for NULL and outside of the result.
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

    /// Complains about a value that is NULL or of another type.
    func mismatch(_ row: Int, _ column: Int, _ wanted: String) -> PostgresError {
        guard types.indices.contains(column), row >= 0, row < rowCount else {
            return PostgresError(
                code: .type,
                message:
                    "there is no row \(row), column \(column) in a result of \(rowCount) rows, \(columnCount) columns"
            )
        }
        let found = isNull(row, column) ? "NULL" : type(column).description
        return PostgresError(
            code: .type,
            message: "column \(name(column)) holds \(found) where \(wanted) was asked for; cast it in the statement"
        )
    }
}
