import ProcessProtocol

/// A child's end: its reason, and further detail for readers of `mta_child`.
struct ChildEnd: Sendable, Equatable {
    var reason: ChildExitReason
    var detail: String
}

extension ChildEnd {
    /// Determines the reason from the system's status, the child's last announcement and what the supervisor did to it.
    ///
    /// The supervisor's own action counts first, because its signal explains any status. A stuck child is still stuck
    /// if it obeys SIGTERM and announces an orderly end. A child that exceeded the drain time but still finished in
    /// order keeps its own reason.
    ///
    /// The child's announcement counts only if its exit status agrees: it may announce an orderly end and then crash.
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
