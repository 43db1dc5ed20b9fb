/// A value that a filter compares a field with.
package enum TargetLiteral: Sendable, Hashable {
    case text(String)
    /// A text that also reads as a time. The kind of the mapping's column, which only the catalog knows, decides what
    /// it is.
    case textOrTime(String, microseconds: Int64)
    /// A decimal number, as written.
    case number(String)
    case boolean(Bool)
    case time(TargetMoment)

    package var kind: TargetKind {
        switch self {
        case .text, .textOrTime: .text
        case .number: .number
        case .boolean: .boolean
        case .time: .time
        }
    }

    /// The literal for a field of this kind: for a time, a text that reads as one becomes a time. Nil if it does not
    /// fit.
    ///
    /// A text field accepts every literal. The literal's kind then decides how the field's text is read.
    package func fitting(_ kind: TargetKind) -> TargetLiteral? {
        switch (kind, self) {
        case (.text, .textOrTime(let text, _)): .text(text)
        case (.text, _): self
        case (.time, .textOrTime(_, let microseconds)): .time(.absolute(microseconds: microseconds))
        default: self.kind == kind ? self : nil
        }
    }
}
