/// A setting as the console's own process has it; secrets are already removed.
package struct SettingInForce: Sendable, Hashable {
    /// The source of a value, weakest first.
    package enum Source: Sendable, Hashable {
        /// The default.
        case standard
        case file
        /// A variable of the process's environment.
        case environment
        /// A flag of the command line.
        case flag
    }

    /// The key as written in the file.
    package let key: String
    /// The value, for people.
    package let value: String
    /// The unit of the value.
    package let unit: String
    package let source: Source
    /// The path of the file or the name of the variable; "" if there is none.
    package let place: String

    package init(key: String, value: String, unit: String, source: Source, place: String) {
        self.key = key
        self.value = value
        self.unit = unit
        self.source = source
        self.place = place
    }
}
