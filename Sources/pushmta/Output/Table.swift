/// Rows under named columns, as text for people or JSON for programs.
struct Table: Sendable {
    /// The names of the columns; in JSON the keys.
    let columns: [String]
    /// The rows, as wide as `columns`.
    var rows: [[Cell]] = []

    /// Creates an empty table.
    init(_ columns: [String]) {
        self.columns = columns
    }

    /// Adds a row.
    mutating func add(_ cells: [Cell]) {
        rows.append(cells)
    }

    /// Prints the table: one JSON array on one line, or aligned columns.
    func show(json: Bool) {
        StandardOutput.line(json ? self.json : text)
    }

    /// An array of objects.
    var json: String {
        Cell.list(rows.map { row in .object(Array(zip(columns, row))) }).json
    }

    /// Aligned columns under their names.
    var text: String {
        let shown = [columns] + rows.map { $0.map(\.shown) }
        let widths = columns.indices.map { column in shown.map { $0[column].count }.max() ?? 0 }
        let lines = shown.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }
        return lines.map(Self.withoutTrailingSpaces).joined(separator: "\n")
    }

    private static func withoutTrailingSpaces(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
