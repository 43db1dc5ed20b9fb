/// Why a database operation failed. No description holds a parameter value, a row or a password.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Sendable, Hashable {
        /// The server refused the statement, with this SQLSTATE.
        case sqlState(String)
        /// The connection could not be made or was lost; what was running may or may not have been committed.
        case connection
        /// The connection was closed from this side before the operation ran.
        case closed
        /// A connection pooler gives each transaction another session of the server.
        case pooler
        /// The operation's own deadline passed.
        case timeout
        /// A value is not of the type that was asked for, or cannot be sent.
        case type
    }

    /// What kind of failure it is.
    public let code: Code
    /// The server's SQLSTATE, also of the last words of a connection; nil when the server said nothing.
    public let sqlState: String?
    /// What happened, without values.
    public let message: String
    /// The violated constraint, if it was one.
    public let constraint: String?
    /// The place of the failing statement in its group, from 0.
    public let statementIndex: Int?
    /// The beginning of the failing statement's SQL text, on one line.
    public let statement: String?

    /// Makes an error.
    public init(
        code: Code,
        sqlState: String? = nil,
        message: String,
        constraint: String? = nil,
        statementIndex: Int? = nil,
        statement: String? = nil
    ) {
        self.code = code
        self.message = message
        self.constraint = constraint
        self.statementIndex = statementIndex
        self.statement = statement
        if case .sqlState(let state) = code { self.sqlState = sqlState ?? state } else { self.sqlState = sqlState }
    }

    /// Whether the connection is gone, so that a statement whose answer is missing may have been committed.
    public var isConnectionLost: Bool { code == .connection || code == .closed }

    /// Whether a unique constraint refused a row.
    public var isUniqueViolation: Bool { sqlState == "23505" }

    /// Whether the server cannot write: it is a standby, or was made read-only. Another one may be the primary now.
    public var isReadOnlyServer: Bool { sqlState == "25006" }

    /// What it means that a server cannot write, and what to do.
    public static let readOnlyWords =
        "The database is read-only: it is a standby that has not been promoted, or default_transaction_read_only is on. "
        + "Name the primary in database.url, or all servers with target_session_attrs=read-write"

    /// What no process of ours can work with.
    static let pooler = PostgresError(
        code: .pooler,
        message:
            "a connection pooler hands out sessions by transaction or statement, so that settings, roles, prepared statements "
            + "and LISTEN of different clients mix. Set pool_mode = session in the pooler for this database, or name PostgreSQL "
            + "itself in database.url"
    )

    /// Whether the same operation may succeed when it is repeated, after a lost connection on a new one.
    public var isRetryable: Bool {
        switch code {
        case .connection, .timeout: return true
        case .closed, .pooler, .type: return false
        case .sqlState(let state):
            // Serialisation failure, deadlock, lock not available, cancelled (also by statement_timeout), shutting down,
            // no primary; connection trouble (08), lack of resources (53) and input or output errors of the server (58).
            return ["25006", "40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03"].contains(state)
                || ["08", "53", "58"].contains { state.hasPrefix($0) }
        }
    }

    /// What happened, with the SQLSTATE and the beginning of the statement.
    public var description: String {
        var text = "PostgreSQL: \(message)"
        if isReadOnlyServer { text += ". \(Self.readOnlyWords)" }
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if let statement { text += " in: \(statement)" }
        return text
    }
}
