import ProcessProtocol

/// A child's end, judged: the enumerated reason, and the detail that a reader of `mta_child` needs besides.
struct ChildEnd: Sendable, Equatable {
    var reason: ChildExitReason
    var detail: String

    init(reason: ChildExitReason, detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// Judges an end from what the system says, what the child said last and what the supervisor did to it.
    ///
    /// What the supervisor did counts first, as a signal of ours explains every status. One that was stuck is so too when it
    /// obeys SIGTERM and calls its end an orderly one; one that ran out of drain time and got done all the same may say so.
    /// What the child said counts only when its exit status agrees, as it may announce an orderly end and crash on the way.
    init(
        _ termination: ChildTermination,
        announced: ChildExitReason?,
        endedBecause cause: ChildExitReason?,
        outOfMemoryKillSeen: Bool
    ) {
        switch termination {
        case .notStarted(let why):
            self.init(reason: .notStarted, detail: why)
        case .exited(let status):
            let byStatus = ChildExitReason(exitStatus: status)
            let said = announced.flatMap { $0.exitStatus == status ? $0 : nil }
            self.init(reason: cause == .stuck ? .stuck : said ?? byStatus, detail: "exit status \(status)")
        case .signalled(let signal):
            let killed = signal == Signals.kill
            let guess: ChildExitReason = killed && outOfMemoryKillSeen ? .outOfMemory : .signalled
            self.init(reason: cause ?? guess, detail: "signal \(signal)")
        }
    }
}
