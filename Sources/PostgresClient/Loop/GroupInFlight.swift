/// A group that was sent and whose results are awaited. Confined to the connection's thread.
final class GroupInFlight {
    /// What the server's results belong to, in order.
    enum Step {
        /// A statement is prepared under this name.
        case prepare(name: String, statement: Int)
        /// A statement is executed, by name if it is prepared.
        case execute(statement: Int, name: String?)
        /// An old prepared statement is dropped.
        case drop
    }

    /// Nil for the connection's own statements.
    let submission: Submission?
    let statements: [PostgresStatement]
    var steps: [Step]
    var nextStep = 0
    var results: [PostgresResult] = []
    /// The first error; the server skips the rest of the group.
    var error: PostgresError?
    /// Whether the waiting task was cancelled.
    var cancelWanted = false
    /// Whether a caller asked to cancel the running statement while this group was running.
    var cancelOrdered = false
    var cancelSent = false
    /// Whether a cancel request meant for another group could have hit this one.
    var isExposed = false
    /// Whether it rolls back a transaction whose COMMIT or ROLLBACK was cancelled.
    var isCleanUp = false

    init(submission: Submission?, statements: [PostgresStatement], steps: [Step]) {
        self.submission = submission
        self.statements = statements
        self.steps = steps
        results.reserveCapacity(statements.count)
    }
}
