import CLibPQ

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
    }

    /// A field of an error or notice; nil when the server did not send it.
    static func field(_ result: OpaquePointer, _ field: Field) -> String? {
        guard let code = field.rawValue.asciiValue, let text = PQresultErrorField(result, Int32(code)) else {
            return nil
        }
        return String(cString: text)
    }
}
