/// What is written to standard error.
public struct LogSettings: Sendable, Equatable {
    /// The least serious level that is written: trace, debug, info, notice, warning, error or critical.
    public var level = "info"

    /// Creates the settings with their defaults.
    public init() {}
}
