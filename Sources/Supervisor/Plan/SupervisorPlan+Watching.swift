import Logging
import ProcessProtocol

extension SupervisorPlan {
    /// Ends the child that is stuck or takes too long to drain.
    mutating func watchChildren(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        // Without the database no child can make progress; what counts is what it does when that is back.
        if !isDatabaseAvailable { excuseChildren(at: now) }
        for generation in children.keys.sorted() {
            guard let child = children[generation] else { continue }
            switch child.phase {
            case .terminating(let since) where since.advanced(by: settings.killDelay) <= now:
                children[generation]?.phase = .killed
                actions.append(.log(.error, "Child \(generation) does not end on SIGTERM and gets SIGKILL."))
                actions.append(.signal(generation: generation, Signals.kill))
            case .draining(let since) where since.advanced(by: settings.drainTime) <= now:
                actions.append(.log(.warning, "Child \(generation) has not drained in time and gets SIGTERM."))
                terminate(generation, .drainTimeout, at: now, &actions)
            case .starting, .running, .draining:
                guard isStuck(child, at: now) else { continue }
                actions.append(.log(.error, "Child \(generation) makes no progress and gets SIGTERM."))
                terminate(generation, .stuck, at: now, &actions)
            case .terminating, .killed, .settling: continue
            }
        }
    }

    mutating func excuseChildren(at now: ContinuousClock.Instant) {
        for generation in children.keys { children[generation]?.excuse(at: now) }
    }

    private func isStuck(_ child: ChildRecord, at now: ContinuousClock.Instant) -> Bool {
        min(child.heardAt, child.progressAt).advanced(by: settings.watchdogTime) <= now
    }
}
