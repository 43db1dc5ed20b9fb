/// How a connection is made: where to, under which name, and with which limits.
///
/// The connection string is libpq's own (`host=… dbname=…` or a URI; empty means the `PG*` environment), so `sslmode`,
/// service files and password files work as everywhere else. It may hold a password and is never printed.
public struct PostgresConfiguration: Sendable, CustomStringConvertible {
    /// The libpq connection string or URI.
    public var connectionString: String
    /// The setting that the string is the value of, and where it was set, for messages; empty if nobody said.
    public var origin = ""
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

/// The name under which a connection shows in `pg_stat_activity`: `pushmta/role/host/pid`.
public struct PostgresApplicationName: Sendable, Hashable, CustomStringConvertible {
    /// The text, at most 63 bytes of printable ASCII.
    public let text: String

    /// PostgreSQL cuts longer names (NAMEDATALEN - 1).
    private static let maximumLength = 63

    /// Makes the name; a long host name is shortened so that role and pid stay readable.
    public init(role: String, host: String, pid: Int32) {
        let product = "pushmta/"
        let role = Self.printable(role).prefix(24)
        let tail = "/\(pid)"
        let room = Self.maximumLength - product.utf8.count - role.utf8.count - 1 - tail.utf8.count
        text = product + role + "/" + Self.printable(host).prefix(max(0, room)) + tail
    }

    public var description: String { text }

    /// PostgreSQL replaces other bytes by question marks; doing it here keeps the length known.
    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
