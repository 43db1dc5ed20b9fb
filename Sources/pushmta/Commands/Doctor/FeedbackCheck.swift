import Store

/// Whether somebody does the work of the feedback worker.
enum FeedbackCheck {
    /// What was found.
    static func results(_ store: Store) async -> [CheckResult] {
        do {
            return [result(try await store.feedbackBacklog())]
        } catch {
            return [CheckResult("feedback worker", .failed, "\(error)")]
        }
    }

    /// Without a worker supervisors apply token events, and statistics wait: an installation that wants none may be so.
    static func result(_ backlog: FeedbackBacklog) -> CheckResult {
        let subject = "feedback worker"
        if let notice = FeedbackNotice(backlog) {
            return CheckResult(subject, notice.isSerious ? .failed : .warning, notice.text)
        }
        return CheckResult(
            subject,
            .ok,
            backlog.isWorkerActing
                ? "one acts" : "none acts, and nothing waits for one; `pushmta feedback` is the command"
        )
    }
}
