import PushCore

/// Rows under named columns, as text for people or JSON for programs.
package struct Table: Sendable {
    /// The names of the columns; the keys in JSON.
    package let columns: [String]
    /// The rows, as wide as `columns`.
    package var rows: [[Cell]] = []

    package init(_ columns: [String]) {
        self.columns = columns
    }

    package mutating func add(_ cells: [Cell]) {
        rows.append(cells)
    }

    /// Prints the table: one JSON array on one line, or aligned columns.
    package func show(json: Bool) {
        StandardOutput.line(json ? self.json : text)
    }

    /// A JSON array of objects.
    package var json: String { cell.json }

    /// The rows as a list of objects.
    package var cell: Cell {
        .list(rows.map { row in .object(Array(zip(columns, row))) })
    }

    /// The maximum number of characters in a cell: enough for a whole push token, or for the reason of a failure and
    /// its remedy.
    package static let maxCellLength = 1_000
    /// The maximum number of characters in a label: people recognize the thing by its beginning, and each row is as
    /// wide as the widest.
    package static let maxLabelLength = 60

    /// Aligned columns under their names.
    package var text: String {
        let shown =
            [columns]
            + rows.map { row in
                zip(row, columns).map { cell, column in
                    TerminalText.cut(
                        Self.oneLine(cell.shown),
                        to: column == "label" ? Self.maxLabelLength : Self.maxCellLength
                    )
                }
            }
        let widths = columns.indices.map { column in shown.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        let lines = shown.map { row in
            zip(row, widths).map { DisplayWidth.padded($0, to: $1) }.joined(separator: "  ")
        }
        return lines.map(Self.withoutTrailingSpaces).joined(separator: "\n")
    }

    /// Line ends, as in the standard error of a process, would break the columns; other control characters would
    /// break the terminal.
    private static func oneLine(_ text: String) -> String {
        // Only what can be seen is processed: some texts are large.
        let beginning = TerminalText.cut(text, to: 2 * maxCellLength)
        guard beginning.contains(where: \.isNewline) else { return TerminalText.line(beginning) }
        return TerminalText.line(beginning.split(whereSeparator: \.isNewline).joined(separator: " | "))
    }

    private static func withoutTrailingSpaces(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
