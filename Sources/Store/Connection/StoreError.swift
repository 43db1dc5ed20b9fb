import PostgresClient

/// What the store refuses or cannot do, with the thing, the cause and the way out in its message.
public struct StoreError: Error, CustomStringConvertible {
    /// The kind of a store error; compare with `==`.
    public enum Code: String, Sendable {
        /// The named service, application, account, credential, delivery or subscription does not exist.
        case notFound
        /// The value that was given cannot be stored.
        case invalid
        /// A thing of that name exists already, or is in a state that forbids the action.
        case conflict
        /// What belongs to others, a target mapping's view, cannot be read now; it may be there again in a moment.
        case unavailable
        /// The database's schema is newer than this program, or not there yet.
        case schema
        /// A part's counters do not add up to its size at its end; the part must be released and done again.
        case unbalancedPart
        /// The database answered something that the statement cannot give: a defect.
        case unexpectedAnswer
    }

    /// The kind of the error.
    public let code: Code
    /// One line for an operator.
    public let message: String
    /// What to do next, when the database gave a hint.
    public let hint: String?
    /// What the schema's own function refused, an SQLSTATE of class `PM`; nil for every other error.
    public let sqlState: String?

    /// An error of the given kind.
    public init(_ code: Code, _ message: String, hint: String? = nil, sqlState: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.sqlState = sqlState
    }

    /// The message, with the hint behind it.
    public var description: String {
        hint.map { "\(message) (\($0))" } ?? message
    }
}
