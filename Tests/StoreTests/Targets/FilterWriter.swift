import PushCore

/// Writes filters as text.
enum FilterWriter {
    static func text(_ filter: TargetFilter) -> String {
        switch filter {
        case .all(let filters): filters.map(operand).joined(separator: " and ")
        case .any(let filters): filters.map(operand).joined(separator: " or ")
        case .not(let filter): "not \(operand(filter))"
        case .compare(let field, let comparison, let literal): "\(field) \(comparison.rawValue) \(text(literal))"
        case .isIn(let field, let literals): "\(field) in (\(literals.map(text).joined(separator: ", ")))"
        case .contains(let field, let wanted): "\(field) contains \(quoted(wanted))"
        case .startsWith(let field, let wanted): "\(field) starts with \(quoted(wanted))"
        case .isNull(let field): "\(field) is null"
        case .did(let test): "\(test)"
        }
    }

    private static func operand(_ filter: TargetFilter) -> String {
        switch filter {
        case .all, .any: "(\(text(filter)))"
        default: text(filter)
        }
    }

    private static func text(_ literal: TargetLiteral) -> String {
        switch literal {
        case .text(let wanted), .textOrTime(let wanted, _): quoted(wanted)
        case .number(let digits): digits
        case .boolean(let flag): flag ? "true" : "false"
        case .time(.beforeStart(let seconds)):
            seconds < 0 ? "now + \(-seconds) seconds" : "now - \(seconds) seconds"
        case .time(.absolute(let microseconds)):
            "date " + quoted(FilterGenerator.times.filter { $0.value == microseconds }.keys.min() ?? "")
        }
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
