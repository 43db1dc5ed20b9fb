/// The reason that a filter cannot be used.
package struct TargetFilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    package enum Code: String, Sendable, Hashable {
        /// The text is not a filter.
        case syntax
        /// A field does not exist.
        case unknownField
        /// A field is compared with a value of the wrong kind.
        case kind
        /// The filter exceeds a limit.
        case limit
    }

    /// The kind of the error.
    package let code: Code
    /// The position in the text, 1 for the first character; nil if unknown.
    package let position: Int?
    /// What is wrong. It never includes a value of the filter, because that may be a person's name.
    package let cause: String
    package let remedy: String

    package init(_ code: Code, at position: Int?, _ cause: String, _ remedy: String) {
        self.code = code
        self.position = position
        self.cause = cause
        self.remedy = remedy
    }

    /// The position, cause and remedy on one line.
    package var description: String {
        let place = position.map { ", character \($0)" } ?? ""
        return "target filter\(place): \(cause); \(remedy)"
    }
}

extension TargetFilterError {
    /// The error for a field that is compared with a literal of the wrong kind.
    package static func mismatch(
        _ field: TargetField,
        _ kind: TargetKind,
        _ literal: TargetLiteral,
        at position: Int? = nil
    ) -> TargetFilterError {
        let example =
            switch kind {
            case .text: "'text'"
            case .number: "12.5"
            case .boolean: "true or false"
            case .time: "'2026-01-31', '2026-01-31T10:00Z' or now - 7 days"
            }
        return TargetFilterError(
            .kind,
            at: position,
            "\(field) is \(kind.words) and is compared with \(literal.kind.words)",
            "compare it with \(example)"
        )
    }
}
