import PushCore

/// Rows under named columns, as text for people or JSON for programs.
package struct Table: Sendable {
    /// The names of the columns; in JSON the keys.
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

    /// An array of objects.
    package var json: String { cell.json }

    /// The list of the rows as objects.
    package var cell: Cell {
        .list(rows.map { row in .object(Array(zip(columns, row))) })
    }

    /// Characters of a cell: a whole push token, the reason of a failure and what to do about it.
    package static let longestCell = 1_000
    /// Characters of a label: it is for people, who know the thing by its beginning; each row is as wide as the widest.
    package static let longestLabel = 60

    /// Aligned columns under their names.
    package var text: String {
        let shown =
            [columns]
            + rows.map { row in
                zip(row, columns).map { cell, column in
                    TerminalText.cut(
                        Self.oneLine(cell.shown),
                        to: column == "label" ? Self.longestLabel : Self.longestCell
                    )
                }
            }
        let widths = columns.indices.map { column in shown.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        let lines = shown.map { row in
            zip(row, widths).map { DisplayWidth.padded($0, to: $1) }.joined(separator: "  ")
        }
        return lines.map(Self.withoutTrailingSpaces).joined(separator: "\n")
    }

    /// Line ends, as in the standard error of a process, would tear the columns, and other control characters the terminal.
    private static func oneLine(_ text: String) -> String {
        // As much as can be seen: some texts are large.
        let beginning = TerminalText.cut(text, to: 2 * longestCell)
        guard beginning.contains(where: \.isNewline) else { return TerminalText.line(beginning) }
        return TerminalText.line(beginning.split(whereSeparator: \.isNewline).joined(separator: " | "))
    }

    private static func withoutTrailingSpaces(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}

/// One value of a table or of a JSON line.
package enum Cell: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    case object([(String, Cell)])
    case list([Cell])
    case none

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }

    package init(_ value: String?) { self = value.map { .text($0) } ?? .none }

    /// A whole number, or nothing.
    package init<Number: BinaryInteger>(_ value: Number?) { self = value.map { .integer(Int64($0)) } ?? .none }

    /// Bytes in MiB.
    package static func mebibytes(_ bytes: Int64) -> Double { Double(bytes) / 1_048_576 }

    /// For people.
    package var shown: String {
        switch self {
        case .text(let value): value
        case .integer(let value): String(value)
        case .number(let value): Self.decimal(value)
        case .flag(let value): value ? "yes" : "no"
        case .object, .list: json
        case .none: "-"
        }
    }

    /// For programs.
    package var json: String {
        switch self {
        case .text(let value): JSONLine.quoted(value)
        case .integer(let value): String(value)
        case .number(let value): value.isFinite ? Self.decimal(value) : "null"
        case .flag(let value): value ? "true" : "false"
        case .object(let pairs):
            "{" + pairs.map { JSONLine.quoted($0.0) + ":" + $0.1.json }.joined(separator: ",") + "}"
        case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .none: "null"
        }
    }

    /// Three digits after the point at most, always with a point.
    private static func decimal(_ value: Double) -> String {
        guard value.magnitude < 1e15 else { return String(value) }
        return String((value * 1_000).rounded() / 1_000)
    }
}

package enum JSONLine {
    /// `text` as a JSON string with its quotes.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            // C1's too, which JSON would allow: a terminal obeys them.
            case _ where scalar.isControl: result += TerminalText.escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
