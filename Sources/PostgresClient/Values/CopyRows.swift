import PushCore

/// Rows for `COPY … FROM STDIN (FORMAT binary)`, given column by column.
package struct CopyRows: Sendable {
    /// The values of one column for all rows of an `append`.
    package enum Column: Sendable {
        /// The same value in each row.
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
        /// `text` values stored back to back in one buffer.
        case textColumn(ByteColumn)
    }

    /// The number of rows, not counting flush rows.
    package private(set) var count = 0
    private let flush: [UInt8]
    private let interval: Int
    /// The input of COPY: the signature, no flags, no header extension; then the rows.
    private var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
    /// A column count of -1 ends the rows.
    private static let end: [UInt8] = [0xFF, 0xFF]

    /// Makes an empty set of rows.
    ///
    /// - Parameters:
    ///   - flush: the values of a row that is inserted at this interval and makes the server write the rows it has
    ///     gathered; empty for none.
    ///   - interval: the number of rows between flush rows, at least 1.
    package init(flush: [PostgresValue] = [], every interval: Int = .max) {
        self.flush = flush.isEmpty ? [] : flush.reduce(Self.head(flush.count)) { $0 + Self.encoded($1) }
        self.interval = max(1, interval)
    }

    /// The whole input, for `copyIn`.
    package var stream: [UInt8] { bytes + Self.end }

    /// Adds rows.
    ///
    /// Throws ``PostgresError/Code/type`` if a column has more or fewer values.
    package mutating func append(rows: Int, columns: [Column]) throws(PostgresError) {
        guard rows > 0 else { return }
        guard columns.allSatisfy({ $0.count ?? rows == rows }) else {
            throw PostgresError(
                code: .type,
                message: "a column of a COPY does not have a value for each of its \(rows) rows"
            )
        }
        let pieces = Self.pieces(columns)
        var places = [Int](repeating: 0, count: rows)
        for piece in pieces { piece.addSizes(to: &places) }
        // From here on `places` holds the write position of each row.
        var size = 0
        for row in 0..<rows {
            if flushes(before: row) { size += flush.count }
            (places[row], size) = (size, size + places[row])
        }
        bytes += [UInt8](unsafeUninitializedCapacity: size) { memory, used in
            let memory = UnsafeMutableRawBufferPointer(memory)
            for row in 0..<rows where flushes(before: row) { memory.put(flush, at: places[row] - flush.count) }
            for piece in pieces { piece.write(to: memory, at: &places) }
            used = size
        }
        count += rows
    }

    private func flushes(before row: Int) -> Bool {
        !flush.isEmpty && count + row > 0 && (count + row).isMultiple(of: interval)
    }

    /// Part of a row. Adjacent columns whose values are the same in all rows are encoded once.
    private enum Piece {
        case fixed([UInt8])
        case column(Column)

        /// Adds its size in each row.
        func addSizes(to sizes: inout [Int]) {
            switch self {
            case .fixed(let bytes): for row in sizes.indices { sizes[row] += bytes.count }
            case .column(let column): column.addSizes(to: &sizes)
            }
        }

        /// Writes it at each row's position, and advances the positions.
        func write(to memory: UnsafeMutableRawBufferPointer, at places: inout [Int]) {
            switch self {
            case .fixed(let bytes):
                for row in places.indices { places[row] += memory.put(bytes, at: places[row]) }
            case .column(let column): column.write(to: memory, at: &places)
            }
        }
    }

    private static func pieces(_ columns: [Column]) -> [Piece] {
        var pieces: [Piece] = []
        var fixed = head(columns.count)
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

    /// The head of a row: its number of columns.
    private static func head(_ columns: Int) -> [UInt8] { encoded(Int16(truncatingIfNeeded: columns)) }

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
    /// The number of values; nil if all rows have the same one.
    fileprivate var count: Int? {
        switch self {
        case .same: nil
        case .int16(let values): values.count
        case .int16OrNull(let values): values.count
        case .int32(let values): values.count
        case .int64(let values): values.count
        case .text(let values): values.count
        case .textColumn(let values): values.count
        }
    }

    /// Adds the size of each value, including its length prefix.
    fileprivate func addSizes(to sizes: inout [Int]) {
        switch self {
        case .same: break
        case .int16: for row in sizes.indices { sizes[row] += 6 }
        case .int16OrNull(let values): for row in sizes.indices { sizes[row] += values[row] == nil ? 4 : 6 }
        case .int32: for row in sizes.indices { sizes[row] += 8 }
        case .int64: for row in sizes.indices { sizes[row] += 12 }
        case .text(let values): for row in sizes.indices { sizes[row] += 4 + (values[row]?.utf8.count ?? 0) }
        case .textColumn(let values): for row in sizes.indices { sizes[row] += 4 + values.range(row).count }
        }
    }

    /// Writes each value at its row's position, and advances the positions.
    fileprivate func write(to memory: UnsafeMutableRawBufferPointer, at places: inout [Int]) {
        switch self {
        case .same: break
        case .int16(let values): for row in places.indices { places[row] += memory.put(values[row], at: places[row]) }
        case .int16OrNull(let values):
            for row in places.indices {
                places[row] += values[row].map { memory.put($0, at: places[row]) } ?? memory.putNull(at: places[row])
            }
        case .int32(let values): for row in places.indices { places[row] += memory.put(values[row], at: places[row]) }
        case .int64(let values): for row in places.indices { places[row] += memory.put(values[row], at: places[row]) }
        case .text(let values):
            for row in places.indices {
                guard var value = values[row] else {
                    places[row] += memory.putNull(at: places[row])
                    continue
                }
                places[row] += value.withUTF8 { memory.putValue(UnsafeRawBufferPointer($0), at: places[row]) }
            }
        case .textColumn(let values):
            values.bytes.withUnsafeBytes { bytes in
                for row in places.indices {
                    places[row] +=
                        values.isNull(row)
                        ? memory.putNull(at: places[row])
                        : memory.putValue(UnsafeRawBufferPointer(rebasing: bytes[values.range(row)]), at: places[row])
                }
            }
        }
    }
}

/// Each function writes something at a position and returns the number of bytes written.
extension UnsafeMutableRawBufferPointer {
    /// An integer with its length prefix.
    @inline(__always)
    fileprivate func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at place: Int) -> Int {
        storeBytes(of: Int32(truncatingIfNeeded: MemoryLayout<T>.size).bigEndian, toByteOffset: place, as: Int32.self)
        storeBytes(of: value.bigEndian, toByteOffset: place + 4, as: T.self)
        return 4 + MemoryLayout<T>.size
    }

    @inline(__always)
    fileprivate func putNull(at place: Int) -> Int {
        storeBytes(of: Int32(-1), toByteOffset: place, as: Int32.self)
        return 4
    }

    @inline(__always)
    fileprivate func putValue(_ value: UnsafeRawBufferPointer, at place: Int) -> Int {
        let length = Int32(truncatingIfNeeded: value.count).bigEndian
        storeBytes(of: length, toByteOffset: place, as: Int32.self)
        UnsafeMutableRawBufferPointer(rebasing: self[(place + 4)..<(place + 4 + value.count)]).copyMemory(from: value)
        return 4 + value.count
    }

    /// Raw bytes.
    @inline(__always)
    @discardableResult
    fileprivate func put(_ bytes: [UInt8], at place: Int) -> Int {
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: self[place..<(place + source.count)]).copyMemory(from: source)
        }
        return bytes.count
    }
}
