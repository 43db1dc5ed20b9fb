import CLibPQ

/// Why a database operation failed. Its texts never contain parameter values, rows or passwords.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable, Hashable {
        /// The server rejected the statement with this SQLSTATE.
        case sqlState(String)
        /// The connection could not be opened or was lost; a running statement may or may not have been committed.
        case connection
        /// The connection was closed from this side before the operation ran.
        case closed
        /// A connection pooler does not give the connection a server session of its own.
        case pooler
        /// The server or the database is not supported.
        case server
        /// The operation's own deadline passed.
        case timeout
        /// A value does not have the requested type, or cannot be sent.
        case type
    }

    /// The kind of failure.
    package let code: Code
    /// The server's SQLSTATE; for a connection's end, that of the server's last error. Nil if the server sent none.
    package let sqlState: String?
    /// What happened, without any values.
    package let message: String
    /// The violated constraint, if any.
    package let constraint: String?
    /// The index of the failing statement in its group.
    package let statementIndex: Int?
    /// The beginning of the failing statement's SQL text, on one line.
    package let statement: String?
    /// What to do, if known: about a connection that could not be opened, or the HINT of a function of our schemas.
    package let remedy: String?

    package init(
        code: Code,
        sqlState: String? = nil,
        message: String,
        constraint: String? = nil,
        statementIndex: Int? = nil,
        statement: String? = nil,
        remedy: String? = nil
    ) {
        self.remedy = remedy
        self.code = code
        self.message = message
        self.constraint = constraint
        self.statementIndex = statementIndex
        self.statement = statement
        if case .sqlState(let state) = code { self.sqlState = sqlState ?? state } else { self.sqlState = sqlState }
    }

    /// The same error without the statement, for readers who did not write it; the server's log has it.
    package var withoutStatement: PostgresError {
        PostgresError(
            code: code,
            sqlState: sqlState,
            message: message,
            constraint: constraint,
            statementIndex: statementIndex,
            remedy: remedy
        )
    }

    /// Whether the connection is gone. A statement whose result is missing may then have been committed.
    package var isConnectionLost: Bool { code == .connection || code == .closed }

    /// Whether a row violated a unique constraint.
    package var isUniqueViolation: Bool { sqlState == "23505" }

    /// Whether the server cannot write, because it is a standby or set to read-only. Another server may be the primary
    /// now.
    package var isReadOnlyServer: Bool { sqlState == "25006" }

    /// Explains that a server cannot write, and what to do.
    package static let readOnlyWords =
        "The database is read-only: it is a standby that has not been promoted, or default_transaction_read_only is on. "
        + "Name the primary in database.url, or all servers with target_session_attrs=read-write"

    /// A pooler in transaction or statement mode, which no process can work with.
    static let pooler = PostgresError(
        code: .pooler,
        message:
            "a connection pooler assigns sessions per transaction or statement, which mixes the settings, roles, prepared "
            + "statements and LISTEN of different clients. Set pool_mode = session for this database in the pooler, or name "
            + "PostgreSQL itself in database.url"
    )

    /// A commit that was acknowledged before the synchronous replica had it. It may be lost, so it counts as a lost
    /// connection: a caller that repeats it waits for the replica again.
    static let unreplicatedCommit = PostgresError(
        code: .connection,
        message:
            "the wait for the synchronous replica was cancelled: only the primary has the commit, and the connection was closed"
    )

    /// Whether the operation may succeed if it is repeated; after a lost connection, on a new one.
    package var isRetryable: Bool {
        switch code {
        case .connection, .timeout: return true
        case .closed, .pooler, .server, .type: return false
        case .sqlState(let state):
            // Serialisation failure, deadlock, lock not available, cancelled (also by statement_timeout), shutting
            // down, read-only. Classes: connection exception (08), insufficient resources (53), system error of the
            // server (58).
            return ["25006", "40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03"].contains(state)
                || ["08", "53", "58"].contains { state.hasPrefix($0) }
        }
    }

    /// What happened, with the SQLSTATE, the beginning of the statement, and what to do.
    package var description: String {
        var text = "PostgreSQL: \(message)"
        if isReadOnlyServer { text += ". \(Self.readOnlyWords)" }
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if let statement { text += " in: \(statement)" }
        // Some of libpq's messages are questions.
        if let remedy { text += (text.hasSuffix("?") ? " " : ". ") + remedy }
        return text
    }
}

extension PostgresError {
    /// Makes an error from a libpq result: SQLSTATE, message and constraint.
    ///
    /// DETAIL, HINT and CONTEXT may quote rows and parameters and are omitted, except for hints that functions of our
    /// schemas give with SQLSTATEs of class `PM`.
    init(result: OpaquePointer, statement: String? = nil, index: Int? = nil) {
        let state = Self.field(result, .sqlState) ?? ""
        let message = Self.field(result, .message) ?? "the server reported an error without a message"
        self.init(
            code: state.isEmpty ? .connection : .sqlState(state),
            message: ValueRedaction.redact(message, sqlState: state),
            constraint: Self.field(result, .constraint),
            statementIndex: index,
            statement: statement.map(Self.excerpt),
            remedy: state.hasPrefix("PM") ? Self.field(result, .hint) : nil
        )
    }

    /// Whether the server ends the session with this error.
    static func isFatal(_ result: OpaquePointer) -> Bool {
        let severity = field(result, .severity)
        return severity == "FATAL" || severity == "PANIC"
    }

    /// The same error as the reason for the loss of the connection.
    func asLossOfConnection() -> PostgresError {
        PostgresError(
            code: .connection,
            sqlState: sqlState,
            message: "the connection to the server was lost: \(message)"
        )
    }

    /// The same error with a note on where it happened.
    func adding(_ place: String) -> PostgresError {
        PostgresError(
            code: code,
            sqlState: sqlState,
            message: "\(message), \(place)",
            constraint: constraint,
            statementIndex: statementIndex,
            statement: statement,
            remedy: remedy
        )
    }

    /// The same error with advice, if the connection could not be opened.
    func advising(_ origin: String) -> PostgresError {
        guard code == .connection else { return self }
        // A message of libpq may end with a full stop.
        let words = message.hasSuffix(".") ? String(message.dropLast()) : message
        return PostgresError(
            code: code,
            sqlState: sqlState,
            message: words,
            remedy: ConnectionAdvice.words(for: self, origin: origin)
        )
    }

    /// Whether every server of the list would refuse the connection for the same reason: failed authentication, or a
    /// missing database. libpq stops there as well.
    var isFinalForAllServers: Bool {
        sqlState.map { $0.hasPrefix("28") || $0.hasPrefix("3D") } ?? false
    }

    /// Merges the refusals of several servers. The SQLSTATE is that of the last server that sent one.
    static func merging(_ failures: [PostgresError]) -> PostgresError {
        if failures.count == 1 { return failures[0] }
        return PostgresError(
            code: .connection,
            sqlState: failures.last { $0.sqlState != nil }?.sqlState,
            message: failures.isEmpty
                ? "there is no server to connect to" : failures.map(\.message).joined(separator: "; ")
        )
    }

    /// The beginning of a statement on one line: long enough to identify it, short enough for a log.
    static func excerpt(_ sql: String) -> String {
        let words = sql.prefix(400).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count <= 100 ? words : words.prefix(100) + "…"
    }

    /// The fields of an error, by libpq's codes (PG_DIAG_*), which are characters.
    enum Field: Character {
        case severity = "V"
        case sqlState = "C"
        case message = "M"
        case hint = "H"
        case constraint = "n"
        case position = "P"
        case function = "R"
    }

    /// A field of an error or notice; nil if the server did not send it.
    static func field(_ result: OpaquePointer, _ field: Field) -> String? {
        guard let code = field.rawValue.asciiValue, let text = PQresultErrorField(result, Int32(code)) else {
            return nil
        }
        return String(cString: text)
    }
}

/// Removes values from the server's primary messages.
///
/// Only data exceptions (SQLSTATE class 22) quote values there, as in `invalid input syntax for type bigint: "…"`.
/// Messages of RAISE in functions are kept.
enum ValueRedaction {
    /// Quotation marks of the server's message languages.
    private static let quotes: Set<Character> = ["\"", "«", "»", "„", "“", "”", "「", "」"]

    static func redact(_ message: String, sqlState: String) -> String {
        guard sqlState.hasPrefix("22") else { return message }
        var text = Substring(message)
        // "invalid byte sequence for encoding "UTF8": 0xc3 0x28"
        if let bytes = text.firstRange(of: "0x") { text = text[..<bytes.lowerBound] + "…" }
        guard let first = text.firstIndex(where: quotes.contains), let last = text.lastIndex(where: quotes.contains)
        else {
            return String(text)
        }
        // A value may contain quotation marks, so everything between the outermost ones is removed.
        return text[..<first] + "\"…\"" + text[text.index(after: last)...]
    }
}

/// libpq's verbose message about a connection that could not be opened.
///
/// Only the verbose form contains the SQLSTATE, between severity and message: `… failed: FATAL:  53300: sorry, too many
/// clients already`. A line with the location in the server's source follows.
struct RefusalText {
    /// The server's SQLSTATE; nil if no server answered.
    let sqlState: String?
    /// The message on one line, without SQLSTATE and location.
    let text: String

    init(_ words: String) {
        var state: String?
        let lines = words.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
            // "LOCATION:  InitProcess, proc.c:353", with its first word in the user's language.
            .filter { $0.wholeMatch(of: #/[^:]+:  \S+, [\w.]+:\d+/#) == nil }
            .map { line -> String in
                guard let match = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { return String(line) }
                state = String(match.1)
                return String(line.replacing(#/:  [0-9A-Z]{5}: /#, with: ":  ", maxReplacements: 1))
            }
        sqlState = state
        text = lines.joined(separator: " ")
    }
}
