/// The result of one check of the doctor.
struct CheckResult: Sendable {
    enum Result: String, Sendable {
        case ok
        /// It works, but an operator should know.
        case warning
        case failed
        /// It was not checked, because an earlier check failed.
        case skipped
    }

    let subject: String
    let result: Result
    /// What was found and, if it is not right, what to do.
    let detail: String

    init(_ subject: String, _ result: Result, _ detail: String) {
        self.subject = subject
        self.result = result
        self.detail = detail
    }
}
