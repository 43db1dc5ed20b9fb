/// Why a setting cannot be used, and what to do.
package struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No setting has this key.
        case unknownKey
        /// The value has the wrong type.
        case type
        /// The value is not allowed.
        case range
        /// The file cannot be read or is not YAML.
        case file
    }

    package let code: Code
    /// What is wrong, with which key, and what to do.
    package let message: String

    /// Describes what is wrong with a setting.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
