/// One value of a table or of a JSON line.
enum Cell: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    case object([(String, Cell)])
    case list([Cell])
    case none

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }

    /// A text, or nothing.
    init(_ value: String?) { self = value.map { .text($0) } ?? .none }

    /// A whole number, or nothing.
    init<Number: BinaryInteger>(_ value: Number?) { self = value.map { .integer(Int64($0)) } ?? .none }

    /// Bytes in MiB.
    static func mebibytes(_ bytes: Int64) -> Double { Double(bytes) / 1_048_576 }

    /// For people.
    var shown: String {
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
    var json: String {
        switch self {
        case .text(let value): JSONText.quoted(value)
        case .integer(let value): String(value)
        case .number(let value): value.isFinite ? Self.decimal(value) : "null"
        case .flag(let value): value ? "true" : "false"
        case .object(let pairs):
            "{" + pairs.map { JSONText.quoted($0.0) + ":" + $0.1.json }.joined(separator: ",") + "}"
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
