/// Rows under named columns that keep to a width: columns without a value are left out, names are cut where it has to be, and what
/// is a sentence stands on lines of its own below its row.
package struct FittedTable: Sendable {
    package struct Column: Sendable {
        package let title: String
        /// Whether it holds numbers, which end at one edge and are never cut.
        package let isNumber: Bool

        /// A column of words, which may be cut.
        package static func text(_ title: String) -> Column { Column(title: title, isNumber: false) }
        package static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
    }

    package struct Row: Sendable {
        /// A text a column, "" where there is nothing to say.
        package let cells: [String]
        /// Sentences about it.
        package let notes: [String]

        /// A row; control characters of its texts are written as escapes, and nothing is longer than a cell of a ``Table``.
        package init(_ cells: [String], notes: [String] = []) {
            self.cells = cells.map(Self.shown)
            self.notes = notes.filter { !$0.isEmpty }.map(Self.shown)
        }

        private static func shown(_ text: String) -> String {
            TerminalText.line(TerminalText.cut(text, to: Table.longestCell))
        }
    }

    /// Names are not cut below this: of less nobody knows what it is.
    private static let leastOfName = 8
    /// How far sentences are set in.
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

    /// The table as lines of at most so many columns: its head, and the lines of each row.
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

    /// The table as text of at most so many columns.
    package func text(width: Int) -> String {
        let lines = lines(width: width)
        return ([lines.head] + lines.rows.flatMap(\.self)).joined(separator: "\n")
    }

    /// As wide as the widest cell; where that is too much the widest columns of words give way.
    private func widths(of shown: [Int], within width: Int) -> [Int] {
        var widths = shown.map { column in
            max(DisplayWidth.of(columns[column].title), rows.map { DisplayWidth.of($0.cells[column]) }.max() ?? 0)
        }
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - width
        while excess > 0 {
            let words = widths.indices.filter { !columns[shown[$0]].isNumber && widths[$0] > Self.leastOfName }
            guard let widest = words.max(by: { widths[$0] < widths[$1] }) else { break }
            // Down to the next widest at once: a name may have a megabyte.
            let next = words.filter { $0 != widest }.map { widths[$0] }.max() ?? Self.leastOfName
            let step = min(excess, max(1, widths[widest] - max(next, Self.leastOfName)))
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

/// Counters in words: those that are not zero, as others say nothing.
package enum CounterWords {
    /// Such as `failed 3, unknown 1`; "" if all are zero.
    package static func text(_ counters: [(name: String, count: Int64)]) -> String {
        counters.filter { $0.count != 0 }.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
    }

    /// A number for a table; "" for zero.
    package static func cell<Number: BinaryInteger>(_ count: Number) -> String { count == 0 ? "" : String(count) }
}

/// Spans of time in a word, for people.
package enum AgeWords {
    /// Such as `8 s`, `5 min`, `3 h` or `2 d`.
    package static func text(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e12 else { return "-" }
        let whole = Int64(max(0, seconds))
        return switch whole {
        case ..<120: "\(whole) s"
        case ..<7_200: "\(whole / 60) min"
        case ..<172_800: "\(whole / 3_600) h"
        default: "\(whole / 86_400) d"
        }
    }
}
