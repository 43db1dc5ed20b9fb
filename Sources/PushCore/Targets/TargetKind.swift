/// What a field of a subscriber holds, as far as a filter can compare it.
public enum TargetKind: String, Sendable, Hashable, CaseIterable {
    /// A text, which may also be compared as a number, a boolean or a time if it reads as one.
    case text
    case number
    case boolean
    case time

    /// The kind with its article, for messages to people.
    public var words: String { "a \(rawValue)" }
}
