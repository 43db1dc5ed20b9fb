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

    /// The text.
    public var description: String { text }

    /// PostgreSQL replaces other bytes by question marks; doing it here keeps the length known.
    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

/// What each session asks of its server right after connecting.
///
/// A host that is cut off leaves its sessions behind at the server, with their locks: PostgreSQL notices a dead peer after
/// two hours, unless it is told to look. With these settings other hosts can go on after some 15 s.
enum SessionSettings {
    /// How long a transaction may wait for its client's next statement: a client that was cut off or stopped says nothing more, and
    /// what it has locked, parts for example, is kept from all others. Ours wait for no person and for no other server.
    private static let idleInTransactionMilliseconds = 5_000

    /// Statements that make a session's settings; those that not every server has come in a group of their own.
    static func groups(_ configuration: PostgresConfiguration, serverVersion: Int32) -> [[PostgresStatement]] {
        var first = [
            "idle_in_transaction_session_timeout = \(idleInTransactionMilliseconds)",
            // A peer that is gone is found within 14 s when the session is idle, within 10 s when it is sent something.
            "tcp_keepalives_idle = 5", "tcp_keepalives_interval = 3", "tcp_keepalives_count = 3",
        ]
        if let limit = configuration.statementTimeoutMilliseconds { first.append("statement_timeout = \(limit)") }
        if let limit = configuration.lockTimeoutMilliseconds { first.append("lock_timeout = \(limit)") }
        var second: [String] = []
        if serverVersion >= 120_000 { second.append("tcp_user_timeout = 10000") }
        // A statement that runs or waits for a lock looks for its client as well.
        if serverVersion >= 140_000 { second.append("client_connection_check_interval = 5000") }
        return [first, second].filter { !$0.isEmpty }.map { $0.map { PostgresStatement("SET \($0)", prepare: false) } }
    }
}
