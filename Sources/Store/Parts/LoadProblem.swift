import PostgresClient

/// Why messages cannot be read from the database now: what an error says about whom it concerns, in words that an operator may see.
public struct LoadProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Scope: Sendable, Hashable {
        /// Nobody in particular: the connection is lost, or was given up.
        case connection
        /// Every message of the delivery for this application: a view, a column or a right is missing, or somebody has locked it.
        case delivery
        /// This part as a whole.
        case part
        /// Some person's data: other messages may well be read.
        case message
    }

    public let scope: Scope
    /// What is wrong, on one line, without values of people and without SQL.
    public let text: String
    /// Whether the server has given up a statement for its time limit: with more time it may be answered.
    public let isTimeout: Bool

    public var description: String { text }

    /// A problem with these words.
    public init(_ scope: Scope, _ text: String, isTimeout: Bool = false) {
        self.scope = scope
        self.text = Self.line(text)
        self.isTimeout = isTimeout
    }

    public init(_ error: any Error) {
        switch error {
        case let problem as LoadProblem: self = problem
        case let error as PostgresError:
            self.init(Self.scope(error), Self.text(error), isTimeout: Self.isTimeout(error))
        // It says what to do, too.
        case let error as StoreError: self.init(error.code == .unavailable ? .delivery : .part, "\(error)")
        case is CancellationError: self.init(.connection, "it was given up")
        default: self.init(.part, "\(error)")
        }
    }

    /// How long a part, or a preparation, waits after so many failures: 5 s, doubling to a minute. What is fixed is noticed within
    /// that, and a part in a minute is no load.
    static func wait(after failures: String) -> String {
        "least(\(longestWait), 5 * 2 ^ least(\(failures), 6)) * interval '1 second'"
    }

    /// In seconds.
    static let longestWait = 60

    private static func scope(_ error: PostgresError) -> Scope {
        guard !error.isConnectionLost, error.code != .timeout, let state = error.sqlState else {
            return error.code == .type ? .part : .connection
        }
        // Shutting down, no primary: the same for everything that is asked.
        if state.hasPrefix("08") || state.hasPrefix("57P") || error.isReadOnlyServer { return .connection }
        return ofData.contains { state.hasPrefix($0) } ? .message : .delivery
    }

    /// SQLSTATE classes of what single rows bring about: several rows of a subquery (21), data (22), domains (23), functions of a view
    /// that raise errors (38, 39, P0), and expressions that grow too complex with a value (54).
    static let ofData = ["21", "22", "23", "38", "39", "54", "P0"]

    /// Classes of which PostgreSQL itself says what is wrong, with names and without values. Whatever else there is a function of the
    /// view has raised, whose author may have put values into the words.
    private static let ownWords = [
        "0A", "21", "22", "23", "25", "28", "2F", "34", "3D", "3F", "40", "42", "44", "53", "54", "55",
        "57", "58", "XX",
    ]

    /// Whether a statement was given up for its time limit (or by an administrator, who has the same in mind).
    static func isTimeout(_ error: PostgresError) -> Bool { error.sqlState == "57014" }

    /// Whether a statement was given up for what it had waited for: an answer of a view, or somebody's lock of it.
    static func isTooSlow(_ error: PostgresError) -> Bool { isTimeout(error) || error.sqlState == "55P03" }

    static func text(_ error: PostgresError) -> String {
        guard let state = error.sqlState else { return error.message }
        guard ownWords.contains(where: { state.hasPrefix($0) }) else {
            return "a function raised an error (SQLSTATE \(state)): read the view by hand to see its words"
        }
        return "\(error.message) (SQLSTATE \(state))"
    }

    /// Longer words are cut: they stand in every part that waits.
    private static let longest = 300

    private static func line(_ text: String) -> String {
        let words = text.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
            .unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return words.count <= longest ? String(words) : String(words.prefix(longest)) + "…"
    }
}
