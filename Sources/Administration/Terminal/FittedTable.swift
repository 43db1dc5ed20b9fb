/// A table that fits a width: columns without values are omitted, names are cut if necessary, and sentences go on
/// their own lines below their row.
package struct FittedTable: Sendable {
    package struct Column: Sendable {
        package let title: String
        /// Whether it holds numbers, which are right-aligned and never cut.
        package let isNumber: Bool

        /// A column of words, which may be cut.
        package static func text(_ title: String) -> Column { Column(title: title, isNumber: false) }
        package static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
    }

    package struct Row: Sendable {
        /// One text per column; "" if there is nothing to say.
        package let cells: [String]
        /// Sentences about the row.
        package let notes: [String]

        /// Creates a row. Control characters are escaped, and no text is longer than a cell of a ``Table``.
        package init(_ cells: [String], notes: [String] = []) {
            self.cells = cells.map(Self.shown)
            self.notes = notes.filter { !$0.isEmpty }.map(Self.shown)
        }

        private static func shown(_ text: String) -> String {
            TerminalText.line(TerminalText.cut(text, to: Table.maxCellLength))
        }
    }

    /// The minimum width of a name: a shorter one is unrecognizable.
    private static let minOfName = 8
    /// The indentation of sentences.
    private static let noteIndent = 4

    package let columns: [Column]
    /// The rows, as wide as `columns`.
    package var rows: [Row] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    package mutating func add(_ cells: [String], notes: [String] = []) {
        rows.append(Row(cells, notes: notes))
    }

    /// The table as lines of at most `width` columns: its header, and the lines of each row.
    package func lines(width: Int) -> (head: String, rows: [[String]]) {
        let shown = columns.indices.filter { column in rows.contains { !$0.cells[column].isEmpty } }
        let widths = widths(of: shown, within: width)
        func line(_ cells: [String]) -> String {
            let padded = zip(shown, widths).map { column, width in
                let cell = columns[column].isNumber ? cells[column] : DisplayWidth.cut(cells[column], to: width)
                return DisplayWidth.padded(cell, to: width, alignsRight: columns[column].isNumber)
            }
            let whole = padded.joined(separator: "  ")
            return DisplayWidth.cut(Self.withoutTrailingSpaces(whole), to: width)
        }
        let indent = String(repeating: " ", count: Self.noteIndent)
        return (
            line(columns.map(\.title)),
            rows.map { row in
                [line(row.cells)]
                    + row.notes.flatMap { DisplayWidth.wrapped($0, to: width - Self.noteIndent) }.map { indent + $0 }
            }
        )
    }

    /// The table as text of at most `width` columns.
    package func text(width: Int) -> String {
        let lines = lines(width: width)
        return ([lines.head] + lines.rows.flatMap(\.self)).joined(separator: "\n")
    }

    /// Each column is as wide as its widest cell. If that is too wide, the widest columns of words shrink.
    private func widths(of shown: [Int], within width: Int) -> [Int] {
        var widths = shown.map { column in
            max(DisplayWidth.of(columns[column].title), rows.map { DisplayWidth.of($0.cells[column]) }.max() ?? 0)
        }
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - width
        while excess > 0 {
            let words = widths.indices.filter { !columns[shown[$0]].isNumber && widths[$0] > Self.minOfName }
            guard let widest = words.max(by: { widths[$0] < widths[$1] }) else { break }
            // Shrink to the next widest at once: a name may have a megabyte.
            let next = words.filter { $0 != widest }.map { widths[$0] }.max() ?? Self.minOfName
            let step = min(excess, max(1, widths[widest] - max(next, Self.minOfName)))
            widths[widest] -= step
            excess -= step
        }
        return widths
    }

    private static func withoutTrailingSpaces(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
