/// How to connect: the server, the application name and the limits.
///
/// The connection string is libpq's (`host=… dbname=…` or a URI; if empty, the `PG*` environment applies), so
/// `sslmode`, service files and password files work as usual. It may hold a password and is never printed.
package struct PostgresConfiguration: Sendable, CustomStringConvertible {
    /// The libpq connection string or URI.
    package var connectionString: String
    /// The setting that holds the connection string, and where it was set, for messages; empty if unknown.
    package var origin = ""
    /// The name shown in `pg_stat_activity`.
    package var applicationName: PostgresApplicationName
    /// `statement_timeout` of the session in milliseconds; nil leaves the server's setting.
    package var statementTimeoutMilliseconds: Int?
    /// `lock_timeout` of the session in milliseconds; nil leaves the server's setting.
    package var lockTimeoutMilliseconds: Int?
    /// The time limit for connecting to one server address.
    package var connectTimeout: Duration
    /// Called on the connection's thread with each of the server's notices; must not block.
    package var onNotice: (@Sendable (PostgresNotice) -> Void)?

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - connectionString: libpq's connection string or URI; empty for the environment.
    ///   - applicationName: the name shown in `pg_stat_activity`; overrides one in the string.
    ///   - statementTimeoutMilliseconds: the session's `statement_timeout`; nil for the server's.
    ///   - lockTimeoutMilliseconds: the session's `lock_timeout`; nil for the server's.
    ///   - connectTimeout: the limit for one server address; 15 s suffices for a distant TLS handshake.
    ///   - onNotice: called with notices and warnings; if nil they are dropped.
    package init(
        _ connectionString: String,
        applicationName: PostgresApplicationName,
        statementTimeoutMilliseconds: Int? = nil,
        lockTimeoutMilliseconds: Int? = nil,
        connectTimeout: Duration = .seconds(15),
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
    ) {
        self.connectionString = connectionString
        self.applicationName = applicationName
        self.statementTimeoutMilliseconds = statementTimeoutMilliseconds
        self.lockTimeoutMilliseconds = lockTimeoutMilliseconds
        self.connectTimeout = connectTimeout
        self.onNotice = onNotice
    }

    /// The application name only: the connection string may hold a password.
    package var description: String { "PostgreSQL as \(applicationName)" }
}
