/// A setting that cannot be used, with the way out.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of trouble.
    public enum Code: String, Sendable {
        /// No setting has this key.
        case unknownKey
        /// The value has the wrong type.
        case type
        /// The value is outside what is allowed.
        case range
        /// The file cannot be read or is not YAML.
        case file
    }

    /// The kind of trouble.
    public let code: Code
    /// What is wrong, with which key, and what to do.
    public let message: String

    /// Describes what is wrong with a setting.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
