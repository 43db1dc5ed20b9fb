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
    var json: String { cell.json }

    /// The list of the rows as objects.
    var cell: Cell {
        .list(rows.map { row in .object(Array(zip(columns, row))) })
    }

    /// Aligned columns under their names.
    var text: String {
        let shown = [columns] + rows.map { $0.map { Self.oneLine($0.shown) } }
        let widths = columns.indices.map { column in shown.map { $0[column].count }.max() ?? 0 }
        let lines = shown.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }
        return lines.map(Self.withoutTrailingSpaces).joined(separator: "\n")
    }

    /// Line ends and other control characters, as in the last words of a process, would tear the columns or the terminal.
    private static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        let lines = text.split(whereSeparator: \.isNewline).joined(separator: " | ")
        let shown = lines.unicodeScalars.filter { $0.properties.generalCategory != .control }
        return String(String.UnicodeScalarView(shown))
    }

    private static func withoutTrailingSpaces(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
