/// The variable-length byte values of one column, back to back in one buffer: one allocation for the column instead of
/// one for each row.
///
/// All values together take at most 2 GiB; a value that would exceed this is stored as null.
package struct ByteColumn: Sendable, Hashable {
    /// The values' bytes, one after the other.
    package private(set) var bytes: [UInt8]
    /// The end of each row's value in ``bytes``.
    package private(set) var ends: [Int32]
    /// Which rows are null; empty while none is.
    private var nulls: [Bool]

    package init() {
        bytes = []
        ends = []
        nulls = []
    }

    /// Makes a column from texts; nil stands for null.
    package init(_ values: [String?]) {
        self.init()
        for value in values {
            if let value { append(value.utf8) } else { appendNull() }
        }
    }

    package var count: Int { ends.count }

    /// Whether there are no rows.
    package var isEmpty: Bool { ends.isEmpty }

    /// Reserves capacity for this many more rows and bytes.
    package mutating func reserve(rows: Int, bytes byteCount: Int) {
        ends.reserveCapacity(ends.count + rows)
        bytes.reserveCapacity(bytes.count + byteCount)
    }

    /// Removes all rows and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        nulls.removeAll(keepingCapacity: true)
    }

    /// Removes the last row, if there is one.
    package mutating func removeLast() {
        guard ends.popLast() != nil else { return }
        bytes.removeLast(bytes.count - Int(ends.last ?? 0))
        if !nulls.isEmpty { nulls.removeLast() }
    }

    package mutating func append(_ value: some Sequence<UInt8>) {
        bytes.append(contentsOf: value)
        finishRow(isNull: false)
    }

    package mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
        finishRow(isNull: false)
    }

    package mutating func append(_ value: ArraySlice<UInt8>) {
        bytes.append(contentsOf: value)
        finishRow(isNull: false)
    }

    /// Appends a row with the text's UTF-8 bytes.
    package mutating func append(_ value: String.UTF8View) {
        bytes.append(contentsOf: value)
        finishRow(isNull: false)
    }

    package mutating func append(_ value: Span<UInt8>) {
        bytes.append(addingCapacity: value.count) { output in
            for index in value.indices { output.append(value[index]) }
        }
        finishRow(isNull: false)
    }

    package mutating func appendNull() {
        finishRow(isNull: true)
    }

    /// Appends a row whose bytes the body appends to the column's buffer. The row is null if the body returns false.
    ///
    /// Use it on hot paths, as it copies nothing. The body must only append. If it throws, no row is added.
    package mutating func append<Failure: Error>(
        writing body: (inout [UInt8]) throws(Failure) -> Bool
    ) throws(Failure) {
        let start = bytes.count
        do throws(Failure) {
            let hasValue = try body(&bytes)
            if !hasValue { bytes.removeLast(bytes.count - start) }
            finishRow(isNull: !hasValue)
        } catch {
            bytes.removeLast(bytes.count - start)
            throw error
        }
    }

    /// Whether the row is null.
    package func isNull(_ row: Int) -> Bool {
        nulls.isEmpty ? false : nulls[row]
    }

    /// The range of the row's value in ``bytes``; empty for null.
    package func range(_ row: Int) -> Range<Int> {
        let start = row == 0 ? 0 : Int(ends[row - 1])
        return start..<Int(ends[row])
    }

    /// The row's bytes; empty for null.
    package subscript(row: Int) -> ArraySlice<UInt8> {
        bytes[range(row)]
    }

    /// The row's value as text. Invalid UTF-8 is repaired; null is the empty text.
    package func string(_ row: Int) -> String {
        String(decoding: bytes[range(row)], as: UTF8.self)
    }

    /// A column with the same number of rows in which all rows but some are empty and take no space.
    /// - Parameter rows: the rows that keep their values, in ascending order.
    package func emptied(but rows: [Int32]) -> ByteColumn {
        var column = self
        let kept = rows.reduce(0) { $0 + range(Int($1)).count }
        column.bytes = []
        column.bytes.reserveCapacity(kept)
        var next = 0
        for row in rows.lazy.map(Int.init) {
            for emptied in next..<row { column.ends[emptied] = Int32(truncatingIfNeeded: column.bytes.count) }
            column.bytes += bytes[range(row)]
            column.ends[row] = Int32(truncatingIfNeeded: column.bytes.count)
            next = row + 1
        }
        for emptied in next..<count { column.ends[emptied] = Int32(truncatingIfNeeded: column.bytes.count) }
        return column
    }

    /// The column with nulls replaced by the values that the closure returns; nil keeps a null.
    package func filled(_ value: (Int) -> String?) -> ByteColumn {
        guard !nulls.isEmpty else { return self }
        var column = ByteColumn()
        column.reserve(rows: count, bytes: bytes.count)
        for row in 0..<count {
            if !isNull(row) {
                column.append(self[row])
            } else if let text = value(row) {
                column.append(text.utf8)
            } else {
                column.appendNull()
            }
        }
        return column
    }

    private mutating func finishRow(isNull: Bool) {
        var isNull = isNull
        let previous = ends.last ?? 0
        if let end = Int32(exactly: bytes.count) {
            ends.append(end)
        } else {
            bytes.removeLast(bytes.count - Int(previous))
            ends.append(previous)
            isNull = true
        }
        if isNull, nulls.isEmpty { nulls = Array(repeating: false, count: ends.count - 1) }
        if isNull || !nulls.isEmpty { nulls.append(isNull) }
    }
}
