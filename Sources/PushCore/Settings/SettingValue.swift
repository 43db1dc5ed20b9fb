/// The value of a setting as a file, the environment or a flag gives it.
public enum SettingValue: Sendable, Equatable {
    /// A whole number.
    case integer(Int)
    /// A text.
    case text(String)
}
