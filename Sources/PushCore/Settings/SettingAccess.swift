/// The type of a setting and where in ``Settings`` its value is.
public enum SettingAccess: Sendable {
    /// A whole number within a range.
    case integer(any WritableKeyPath<Settings, Int> & Sendable, ClosedRange<Int>)
    /// A text.
    case text(any WritableKeyPath<Settings, String> & Sendable)
    /// One word of a list.
    case choice(any WritableKeyPath<Settings, String> & Sendable, [String])
    /// `true` or `false`.
    case flag(any WritableKeyPath<Settings, Bool> & Sendable)
    /// A ``TimeOfDay`` as text; empty: never.
    case timeOfDay(any WritableKeyPath<Settings, String> & Sendable)
}
