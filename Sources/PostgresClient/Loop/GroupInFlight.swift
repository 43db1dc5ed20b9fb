/// A group of statements that was sent and whose answers are coming in; confined to the connection's thread.
final class GroupInFlight {
    /// What the server answers one after the other.
    enum Step {
        /// A statement is prepared under the name.
        case prepare(name: String, statement: Int)
        /// A statement is run, under the name when it is prepared.
        case execute(statement: Int, name: String?)
        /// An old prepared statement is dropped.
        case drop
    }

    /// Nil for what the connection does by itself.
    let submission: Submission?
    let statements: [PostgresStatement]
    var steps: [Step]
    var nextStep = 0
    var results: [PostgresResult] = []
    /// The first error; the server skips the rest of the group.
    var error: PostgresError?
    /// Whether the waiting task was cancelled.
    var cancelWanted = false
    /// Whether somebody wanted "the running statement" cancelled while this was it.
    var cancelOrdered = false
    var cancelSent = false
    /// Whether a cancel request meant for another group could have hit this one.
    var isExposed = false
    /// Whether it rolls back a transaction that its end did not end.
    var isCleanUp = false

    init(submission: Submission?, statements: [PostgresStatement], steps: [Step]) {
        self.submission = submission
        self.statements = statements
        self.steps = steps
        results.reserveCapacity(statements.count)
    }
}
