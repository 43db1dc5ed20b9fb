/// The kind of a field's values, as far as filters compare them.
package enum TargetKind: String, Sendable, Hashable, CaseIterable {
    /// A text. If it reads as a number, a boolean or a time, it can also be compared as such.
    case text
    case number
    case boolean
    case time

    /// The kind with its article, for messages.
    package var words: String { "a \(rawValue)" }
}
