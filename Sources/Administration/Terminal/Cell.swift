import PushCore

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

    /// The text for people.
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

    /// The JSON for programs.
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

    /// At most three digits after the point, and always a point.
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
            // JSON would allow C1 control characters, but terminals obey them.
            case _ where scalar.isControl: result += TerminalText.escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
