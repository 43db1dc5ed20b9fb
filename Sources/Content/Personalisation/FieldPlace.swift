import PushCore

/// A path with the column that holds its root.
struct FieldPlace: Sendable, Hashable {
    let column: Int
    let path: FieldPath

    /// The value at this path in a message; nil if there is none.
    func value(row: Int, _ columns: [ByteColumn]) -> JSONValue? {
        guard column < columns.count else { return nil }
        return FieldPath.parsed(columns[column].string(row)).flatMap { path.value(in: $0) }
    }
}
