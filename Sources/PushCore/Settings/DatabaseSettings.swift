/// Where the database is and how long one statement may take.
public struct DatabaseSettings: Sendable, Equatable {
    /// The libpq connection string or URI. Empty: libpq's own environment (`PGHOST`, `PGSERVICE`, …).
    public var url = ""
    /// The longest time of one statement, in seconds (0 = no limit).
    public var statementTimeoutSec = 60

    /// Creates the settings with their defaults.
    public init() {}
}
