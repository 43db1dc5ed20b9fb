import Store

/// Whether somebody does the work of the feedback worker.
enum FeedbackCheck {
    /// What was found.
    static func results(_ store: Store) async -> [CheckResult] {
        do {
            return [result(try await store.feedbackBacklog())] + spoolResults(try await store.feedbackWorkers())
                + (try await store.feedbackServices()).map(result)
                + (try await store.retentionHolds()).map(result)
        } catch {
            return [CheckResult("feedback worker", .failed, "\(error)")]
        }
    }

    /// What is not read in time is told later: a service keeps it for days.
    static func result(_ service: FeedbackServiceRow) -> CheckResult {
        let subject = "feedback service of \(service.application), account \(service.account)"
        guard service.trouble.isEmpty else { return CheckResult(subject, .warning, service.trouble) }
        return CheckResult(
            subject,
            .ok,
            service.endedAt == nil ? "not read yet" : "read; it has named \(service.tokens) tokens in all"
        )
    }

    /// What is old by a clock that may be wrong.
    static func result(_ hold: RetentionHold) -> CheckResult {
        let notice = RetentionNotice(hold)
        return CheckResult(notice.subject, .warning, notice.text)
    }

    /// Hits that wait on the disks of hosts.
    static func spoolResults(_ workers: [FeedbackWorkerRow]) -> [CheckResult] {
        SpoolNotice.all(workers).map { CheckResult("tracking spools of host \($0.host)", .warning, $0.text) }
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
