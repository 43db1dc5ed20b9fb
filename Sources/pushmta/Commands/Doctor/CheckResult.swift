/// What one check of the doctor found.
struct CheckResult: Sendable {
    /// How it went.
    enum Verdict: String, Sendable {
        case ok
        /// It works, but an operator should know.
        case warning
        case failed
        /// It could not be looked at, because something before it failed.
        case skipped
    }

    /// What was checked.
    let subject: String
    /// How it went.
    let verdict: Verdict
    /// What was found and, if it is not right, what to do.
    let finding: String

    /// The result of a check.
    init(_ subject: String, _ verdict: Verdict, _ finding: String) {
        self.subject = subject
        self.verdict = verdict
        self.finding = finding
    }
}
