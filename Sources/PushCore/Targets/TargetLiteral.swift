/// A value that a filter compares a field with.
public enum TargetLiteral: Sendable, Hashable {
    case text(String)
    /// A decimal number, as it was written.
    case number(String)
    case boolean(Bool)
    case time(TargetMoment)

    /// What it is.
    public var kind: TargetKind {
        switch self {
        case .text: .text
        case .number: .number
        case .boolean: .boolean
        case .time: .time
        }
    }

    /// The literal as a field of this kind takes it: a text stands for a time where a time belongs. Nil if it does not fit.
    ///
    /// A text field takes every literal, whose kind then says how the field's text is read.
    public func fitting(_ kind: TargetKind) -> TargetLiteral? {
        switch (kind, self) {
        case (.text, _): self
        case (.time, .text(let text)): TargetMoment(text).map { .time($0) }
        default: self.kind == kind ? self : nil
        }
    }
}
