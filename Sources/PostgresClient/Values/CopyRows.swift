/// Rows for `COPY … FROM STDIN (FORMAT binary)`, given by columns.
public struct CopyRows: Sendable {
    /// The values of one column for all rows of an `append`.
    public enum Column: Sendable {
        /// The same in each row.
        case same(PostgresValue)
        /// `smallint`.
        case int16([Int16])
        /// `smallint`, nil for NULL.
        case int16OrNull([Int16?])
        /// `integer`, or `date` as days since 2000-01-01.
        case int32([Int32])
        /// `bigint`.
        case int64([Int64])
        /// `text`, nil for NULL.
        case text([String?])
    }

    /// The number of rows.
    public private(set) var count = 0
    /// What COPY reads: the signature, no flags, no extension of the header; then the rows.
    private var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
    /// A number of columns of -1 ends the rows.
    private static let end: [UInt8] = [0xFF, 0xFF]

    /// No rows.
    public init() {}

    /// All of it, for `copyIn`.
    public var stream: [UInt8] { bytes + Self.end }

    /// Adds rows.
    ///
    /// Throws ``PostgresError/Code/type`` if a column has more or fewer values.
    public mutating func append(rows: Int, columns: [Column]) throws(PostgresError) {
        guard rows > 0 else { return }
        guard columns.allSatisfy({ $0.count ?? rows == rows }) else {
            throw PostgresError(
                code: .type,
                message: "a column of a COPY does not have a value for each of its \(rows) rows"
            )
        }
        let pieces = Self.pieces(columns)
        let size = pieces.reduce(0) { $0 + $1.encodedSize(rows: rows) }
        bytes += [UInt8](unsafeUninitializedCapacity: size) { memory, used in
            var writer = BinaryWriter(UnsafeMutableRawBufferPointer(memory))
            for row in 0..<rows {
                for piece in pieces { piece.write(row, to: &writer) }
            }
            used = writer.count
        }
        count += rows
    }

    /// Part of a row: what neighbouring columns have in common with all rows is encoded once.
    private enum Piece {
        case fixed([UInt8])
        case column(Column)

        func encodedSize(rows: Int) -> Int {
            switch self {
            case .fixed(let bytes): rows * bytes.count
            case .column(let column): column.encodedSize
            }
        }

        @inline(__always)
        func write(_ row: Int, to writer: inout BinaryWriter) {
            switch self {
            case .fixed(let bytes): writer.bytes(bytes)
            case .column(let column): column.write(row, to: &writer)
            }
        }
    }

    private static func pieces(_ columns: [Column]) -> [Piece] {
        var pieces: [Piece] = []
        var fixed = encoded(Int16(truncatingIfNeeded: columns.count))
        for column in columns {
            guard case .same(let value) = column else {
                if !fixed.isEmpty { pieces.append(.fixed(fixed)) }
                fixed = []
                pieces.append(.column(column))
                continue
            }
            fixed += encoded(value)
        }
        return fixed.isEmpty ? pieces : pieces + [.fixed(fixed)]
    }

    private static func encoded(_ value: PostgresValue) -> [UInt8] {
        guard value != .null else { return encoded(Int32(-1)) }
        let size = value.encodedSize
        return encoded(Int32(truncatingIfNeeded: size))
            + [UInt8](unsafeUninitializedCapacity: size) { memory, used in
                var writer = BinaryWriter(UnsafeMutableRawBufferPointer(memory))
                value.write(to: &writer)
                used = writer.count
            }
    }

    private static func encoded(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

extension CopyRows.Column {
    /// The number of values; nil if all rows have the same.
    fileprivate var count: Int? {
        switch self {
        case .same: nil
        case .int16(let values): values.count
        case .int16OrNull(let values): values.count
        case .int32(let values): values.count
        case .int64(let values): values.count
        case .text(let values): values.count
        }
    }

    /// How many bytes all values need at most, each with its length before it.
    fileprivate var encodedSize: Int {
        switch self {
        case .same: 0
        case .int16(let values): values.count * 6
        case .int16OrNull(let values): values.count * 6
        case .int32(let values): values.count * 8
        case .int64(let values): values.count * 12
        case .text(let values): values.reduce(values.count * 4) { $0 + ($1?.utf8.count ?? 0) }
        }
    }

    @inline(__always)
    fileprivate func write(_ row: Int, to writer: inout BinaryWriter) {
        switch self {
        case .same: break
        case .int16(let values): writer.element(values[row])
        case .int16OrNull(let values):
            guard let value = values[row] else { return writer.integer(Int32(-1)) }
            writer.element(value)
        case .int32(let values): writer.element(values[row])
        case .int64(let values): writer.element(values[row])
        case .text(let values): writer.element(values[row])
        }
    }
}

extension BinaryWriter {
    /// An integer with its length before it.
    @inline(__always)
    fileprivate mutating func element<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        integer(Int32(truncatingIfNeeded: MemoryLayout<T>.size))
        integer(value)
    }
}
