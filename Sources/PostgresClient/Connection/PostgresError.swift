import CLibPQ

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
        /// The server, or its database, is of a kind that the program does not work with.
        case server
        /// The operation's own deadline passed.
        case timeout
        /// A value is not of the type that was asked for, or cannot be sent.
        case type
    }

    /// What kind of failure it is.
    public let code: Code
    /// The server's SQLSTATE, also of the last error of a connection; nil when the server said nothing.
    public let sqlState: String?
    /// What happened, without values.
    public let message: String
    /// The violated constraint, if it was one.
    public let constraint: String?
    /// The place of the failing statement in its group, from 0.
    public let statementIndex: Int?
    /// The beginning of the failing statement's SQL text, on one line.
    public let statement: String?
    /// What to do, and which setting it is about, where that is known: of connections that could not be made.
    public let remedy: String?

    public init(
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

    /// The same error for people who did not write the statement; the server's log has it.
    public var withoutStatement: PostgresError {
        PostgresError(
            code: code,
            sqlState: sqlState,
            message: message,
            constraint: constraint,
            statementIndex: statementIndex,
            remedy: remedy
        )
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

    /// A commit that was acknowledged before the synchronous replica had it. Nobody knows whether it lasts, as after a lost
    /// connection, so it counts as one: who repeats it waits for the replica again.
    static let unreplicatedCommit = PostgresError(
        code: .connection,
        message:
            "the wait for the synchronous replica was cancelled: the commit is on the primary alone, and the connection was closed"
    )

    /// Whether the same operation may succeed when it is repeated, after a lost connection on a new one.
    public var isRetryable: Bool {
        switch code {
        case .connection, .timeout: return true
        case .closed, .pooler, .server, .type: return false
        case .sqlState(let state):
            // Serialisation failure, deadlock, lock not available, cancelled (also by statement_timeout), shutting down,
            // no primary; connection trouble (08), lack of resources (53) and input or output errors of the server (58).
            return ["25006", "40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03"].contains(state)
                || ["08", "53", "58"].contains { state.hasPrefix($0) }
        }
    }

    /// What happened, with the SQLSTATE, the beginning of the statement, and what to do.
    public var description: String {
        var text = "PostgreSQL: \(message)"
        if isReadOnlyServer { text += ". \(Self.readOnlyWords)" }
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if let statement { text += " in: \(statement)" }
        // libpq asks questions.
        if let remedy { text += (text.hasSuffix("?") ? " " : ". ") + remedy }
        return text
    }
}

extension PostgresError {
    /// The error that a libpq result carries: SQLSTATE, message and constraint.
    ///
    /// DETAIL, HINT and CONTEXT may quote rows and parameters and are left out.
    init(result: OpaquePointer, statement: String? = nil, index: Int? = nil) {
        let state = Self.field(result, .sqlState) ?? ""
        let message = Self.field(result, .message) ?? "the server reported an error without a message"
        self.init(
            code: state.isEmpty ? .connection : .sqlState(state),
            message: ValueRedaction.redact(message, sqlState: state),
            constraint: Self.field(result, .constraint),
            statementIndex: index,
            statement: statement.map(Self.excerpt)
        )
    }

    /// Whether the server ends the session with this error.
    static func isFatal(_ result: OpaquePointer) -> Bool {
        let severity = field(result, .severity)
        return severity == "FATAL" || severity == "PANIC"
    }

    /// The same error as the reason why the connection is gone.
    func asLossOfConnection() -> PostgresError {
        PostgresError(
            code: .connection,
            sqlState: sqlState,
            message: "the connection to the server was lost: \(message)"
        )
    }

    /// The same error with words on where it happened.
    func adding(_ place: String) -> PostgresError {
        PostgresError(
            code: code,
            sqlState: sqlState,
            message: "\(message), \(place)",
            constraint: constraint,
            statementIndex: statementIndex,
            statement: statement
        )
    }

    /// The same error of a connection that could not be made, with what to do.
    func advising(_ origin: String) -> PostgresError {
        guard code == .connection else { return self }
        // A line of libpq's may end like a sentence.
        let words = message.hasSuffix(".") ? String(message.dropLast()) : message
        return PostgresError(
            code: code,
            sqlState: sqlState,
            message: words,
            remedy: ConnectionAdvice.words(for: self, origin: origin)
        )
    }

    /// Whether a refusal to connect would be the same at every server of the list: who is not let in, or asks for a
    /// database that is not there. libpq goes no further either.
    var isFinalForAllServers: Bool {
        sqlState.map { $0.hasPrefix("28") || $0.hasPrefix("3D") } ?? false
    }

    /// The refusals of several servers as one; the last server that said something gives the SQLSTATE.
    static func merging(_ failures: [PostgresError]) -> PostgresError {
        if failures.count == 1 { return failures[0] }
        return PostgresError(
            code: .connection,
            sqlState: failures.last { $0.sqlState != nil }?.sqlState,
            message: failures.isEmpty
                ? "there is no server to connect to" : failures.map(\.message).joined(separator: "; ")
        )
    }

    /// The beginning of a statement on one line: enough to find it, short enough for a log.
    static func excerpt(_ sql: String) -> String {
        let words = sql.prefix(400).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count <= 100 ? words : words.prefix(100) + "…"
    }

    /// Fields of an error by libpq's codes (PG_DIAG_*), which are characters.
    enum Field: Character {
        case severity = "V"
        case sqlState = "C"
        case message = "M"
        case constraint = "n"
        case position = "P"
        case function = "R"
    }

    /// A field of an error or notice; nil when the server did not send it.
    static func field(_ result: OpaquePointer, _ field: Field) -> String? {
        guard let code = field.rawValue.asciiValue, let text = PQresultErrorField(result, Int32(code)) else {
            return nil
        }
        return String(cString: text)
    }
}

/// Takes values out of the server's primary messages.
///
/// Only data exceptions (SQLSTATE class 22) quote values there: `invalid input syntax for type bigint: "…"`. Messages of
/// RAISE in functions are their authors' words and stay.
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
        // A value may hold quotation marks itself, so everything between the outermost goes.
        return text[..<first] + "\"…\"" + text[text.index(after: last)...]
    }
}

/// libpq's words on a connection that was not made, in its verbose form.
///
/// Only that form tells the SQLSTATE, between severity and message: `… failed: FATAL:  53300: sorry, too many clients
/// already`, and then a line with the place in the server's source.
struct RefusalText {
    /// The server's SQLSTATE; nil when none answered.
    let sqlState: String?
    /// The words on one line, without SQLSTATE and source.
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
