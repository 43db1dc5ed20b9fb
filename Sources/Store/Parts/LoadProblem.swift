import PostgresClient

/// Why messages cannot be read from the database now: which messages an error concerns, as text that an operator may
/// see.
package struct LoadProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Scope: Sendable, Hashable {
        /// None in particular: the connection was lost, or the call was cancelled.
        case connection
        /// All messages of the delivery for this application: a view, a column or a right is missing, or another
        /// session has locked it.
        case delivery
        /// This part as a whole.
        case part
        /// Only a person's data: other messages may well be readable.
        case message
    }

    package let scope: Scope
    /// What is wrong, on one line, without personal values and without SQL.
    package let text: String
    /// Whether the server cancelled a statement at its time limit: with more time it may succeed.
    package let isTimeout: Bool

    package var description: String { text }

    /// A problem with this text.
    package init(_ scope: Scope, _ text: String, isTimeout: Bool = false) {
        self.scope = scope
        self.text = Self.line(text)
        self.isTimeout = isTimeout
    }

    package init(_ error: any Error) {
        switch error {
        case let problem as LoadProblem: self = problem
        case let error as PostgresError:
            self.init(Self.scope(error), Self.text(error), isTimeout: Self.isTimeout(error))
        // Its text includes the remedy.
        case let error as StoreError: self.init(error.code == .unavailable ? .delivery : .part, "\(error)")
        case is CancellationError: self.init(.connection, "the call was cancelled")
        default: self.init(.part, "\(error)")
        }
    }

    /// How long a part, or a preparation, waits after this many failures: 5 s, doubling to a minute. A fix is noticed
    /// within that time, and one part a minute is no load.
    static func wait(after failures: String) -> String {
        "least(\(maxWait), 5 * 2 ^ least(\(failures), 6)) * interval '1 second'"
    }

    /// In seconds.
    static let maxWait = 60

    private static func scope(_ error: PostgresError) -> Scope {
        guard !error.isConnectionLost, error.code != .timeout, let state = error.sqlState else {
            return error.code == .type ? .part : .connection
        }
        // Shutting down, or no primary: the same for every statement.
        if state.hasPrefix("08") || state.hasPrefix("57P") || error.isReadOnlyServer { return .connection }
        return ofData.contains { state.hasPrefix($0) } ? .message : .delivery
    }

    /// SQLSTATE classes that single rows can cause: several rows of a subquery (21), data (22), domains (23), functions
    /// of a view that raise errors (38, 39, P0), and expressions that become too complex with a value (54).
    static let ofData = ["21", "22", "23", "38", "39", "54", "P0"]

    /// Classes for which PostgreSQL itself says what is wrong, with names and without values. All other errors were
    /// raised by a function of the view, whose author may have put values into the text.
    private static let ownWords = [
        "0A", "21", "22", "23", "25", "28", "2F", "34", "3D", "3F", "40", "42", "44", "53", "54", "55",
        "57", "58", "XX",
    ]

    /// Whether a statement was cancelled at its time limit (or by an administrator, for the same reason).
    static func isTimeout(_ error: PostgresError) -> Bool { error.sqlState == "57014" }

    /// Whether a statement was cancelled because of a wait: for a view's result, or for a lock.
    static func isTooSlow(_ error: PostgresError) -> Bool { isTimeout(error) || error.sqlState == "55P03" }

    static func text(_ error: PostgresError) -> String {
        guard let state = error.sqlState else { return error.message }
        guard ownWords.contains(where: { state.hasPrefix($0) }) else {
            return "a function raised an error (SQLSTATE \(state)): read the view by hand to see its message"
        }
        return "\(error.message) (SQLSTATE \(state))"
    }

    /// Longer texts are cut, because they are stored with every waiting part.
    private static let longest = 300

    private static func line(_ text: String) -> String {
        let words = text.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
            .unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return words.count <= longest ? String(words) : String(words.prefix(longest)) + "…"
    }
}
