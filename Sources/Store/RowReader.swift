import PostgresClient

/// Reads the columns of a row one after another, in the order of the statement.
///
/// Callers need not count columns, and a statement and its reader cannot diverge: ``Store/all(_:_:)`` checks once for
/// each result whether all columns were read.
package struct RowReader {
    private let result: PostgresResult
    private let row: Int
    private var column = 0

    init(_ result: PostgresResult, row: Int) {
        self.result = result
        self.row = row
    }

    private mutating func next<T>(_ read: (PostgresResult, _ row: Int, _ column: Int) throws -> T) rethrows -> T {
        defer { column += 1 }
        return try read(result, row, column)
    }

    /// - Throws: `unexpectedAnswer` unless each column was read.
    package func end() throws {
        guard column != result.columnCount else { return }
        throw StoreError(
            .unexpectedAnswer,
            "A statement gives \(result.columnCount) columns, of which \(column) are read: \(result.name(0)), \(result.name(1))…",
            hint: "check with pushmta doctor that schema and program are of one version; if they are, report it"
        )
    }

    /// The value in the next columns; nil, without reading them, if the first is NULL.
    package mutating func ifPresent<T>(_ count: Int, _ read: (inout RowReader) throws -> T) throws -> T? {
        guard result.isNull(row, column) else { return try read(&self) }
        column += count
        return nil
    }

    /// A text that is a case of an enumeration.
    package mutating func choice<T: RawRepresentable<String>>() throws -> T {
        defer { column += 1 }
        return try Store.choice(result, row, column)
    }

    package mutating func textArray() throws -> [String] { try next { try $0.textArray($1, $2).compactMap(\.self) } }

    package mutating func textArrayOrNil() throws -> [String]? { try ifPresent(1) { try $0.textArray() } }

    package mutating func textArrayWithNulls() throws -> [String?] { try next { try $0.textArray($1, $2) } }

    package mutating func int32Array() throws -> [Int32] { try next { try $0.int32Array($1, $2) } }

    package mutating func int32ArrayOrNil() throws -> [Int32]? { try next { try $0.int32ArrayOrNil($1, $2) } }

    package mutating func int64Array() throws -> [Int64] { try next { try $0.int64Array($1, $2) } }

    package mutating func date() throws -> Int32 { try next { try $0.date($1, $2) } }

    package mutating func int16() throws -> Int16 { try next { try $0.int16($1, $2) } }

    package mutating func int16OrNil() throws -> Int16? { try next { try $0.int16OrNil($1, $2) } }

    package mutating func int32() throws -> Int32 { try next { try $0.int32($1, $2) } }

    package mutating func int32OrNil() throws -> Int32? { try next { try $0.int32OrNil($1, $2) } }

    package mutating func int64() throws -> Int64 { try next { try $0.int64($1, $2) } }

    package mutating func int64OrNil() throws -> Int64? { try next { try $0.int64OrNil($1, $2) } }

    package mutating func double() throws -> Double { try next { try $0.double($1, $2) } }

    package mutating func doubleOrNil() throws -> Double? { try next { try $0.doubleOrNil($1, $2) } }

    package mutating func bool() throws -> Bool { try next { try $0.bool($1, $2) } }

    package mutating func text() throws -> String { try next { try $0.text($1, $2) } }

    package mutating func textOrNil() throws -> String? { try next { try $0.textOrNil($1, $2) } }

    package mutating func bytes() throws -> [UInt8] { try next { try $0.bytes($1, $2) } }

    package mutating func bytesOrNil() throws -> [UInt8]? { next { $0.bytesOrNil($1, $2) } }

    package mutating func time() throws -> DatabaseTime { try next { try $0.time($1, $2) } }

    package mutating func timeOrNil() throws -> DatabaseTime? { try next { try $0.timeOrNil($1, $2) } }
}

extension PostgresResult {
    /// The first row.
    package func one<T>(_ read: (inout RowReader) throws -> T) throws -> T { try value(ofRow: 0, read) }

    /// The first row; nil if there is none.
    package func oneOrNil<T>(_ read: (inout RowReader) throws -> T) throws -> T? { rowCount > 0 ? try one(read) : nil }

    package func all<T>(_ read: (inout RowReader) throws -> T) throws -> [T] {
        try (0..<rowCount).map { row in try value(ofRow: row, read) }
    }

    /// Calls a closure for each row.
    package func each(_ read: (inout RowReader) throws -> Void) throws {
        for row in 0..<rowCount { try value(ofRow: row, read) }
    }

    private func value<T>(ofRow row: Int, _ read: (inout RowReader) throws -> T) throws -> T {
        var reader = RowReader(self, row: row)
        let value = try read(&reader)
        // All rows of a result have the same columns.
        if row == 0 { try reader.end() }
        return value
    }
}
