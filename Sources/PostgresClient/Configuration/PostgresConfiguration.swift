/// How a connection is made: where to, under which name, and with which limits.
///
/// The connection string is libpq's own (`host=… dbname=…` or a URI; empty means the `PG*` environment), so `sslmode`,
/// service files and password files work as everywhere else. It may hold a password and is never printed.
public struct PostgresConfiguration: Sendable, CustomStringConvertible {
    /// The libpq connection string or URI.
    public var connectionString: String
    /// The name shown in `pg_stat_activity`.
    public var applicationName: PostgresApplicationName
    /// `statement_timeout` of the session in milliseconds; nil leaves the server's setting.
    public var statementTimeoutMilliseconds: Int?
    /// `lock_timeout` of the session in milliseconds; nil leaves the server's setting.
    public var lockTimeoutMilliseconds: Int?
    /// How long one server address may take to answer the connection attempt.
    public var connectTimeout: Duration
    /// Called on the connection's thread with each notice of the server; must not block.
    public var onNotice: (@Sendable (PostgresNotice) -> Void)?

    /// Describes a connection.
    ///
    /// - Parameters:
    ///   - connectionString: libpq's connection string or URI, empty for the environment.
    ///   - applicationName: the name shown in `pg_stat_activity`; wins over one in the string.
    ///   - statementTimeoutMilliseconds: the session's `statement_timeout`, nil for the server's.
    ///   - lockTimeoutMilliseconds: the session's `lock_timeout`, nil for the server's.
    ///   - connectTimeout: the limit for one server address; 15 s leaves room for a distant TLS handshake.
    ///   - onNotice: called with notices and warnings; without it they are dropped.
    public init(
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
    public var description: String { "PostgreSQL as \(applicationName)" }
}
