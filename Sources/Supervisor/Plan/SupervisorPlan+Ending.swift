import Logging
import ProcessProtocol

extension SupervisorPlan {
    /// How often an ending supervisor says what it waits for.
    static let waitingReportInterval = Duration.seconds(15)

    mutating func drain(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return hurry(at: now, &actions) }
        ending = .draining(since: now, saidAt: now)
        actions.append(.log(.notice, "Draining: nothing new is claimed. " + waitingText))
        for generation in children.keys.sorted() { askToDrain(generation, at: now, &actions) }
    }

    /// Ends every child with SIGTERM at once and, if it is still there after the kill delay, with SIGKILL.
    mutating func hurry(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        ending = .hurrying(since: now, saidAt: now)
        actions.append(.log(.notice, "Ending in a hurry. " + waitingText))
        for generation in children.keys.sorted() { terminate(generation, .drainTimeout, at: now, &actions) }
    }

    mutating func reload(_ new: SpawnSettings, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        settings = new
        settingsEpoch += 1
        throttles.removeAll()
        actions.append(.log(.notice, "Settings read again; \(aliveCount) children are replaced one by one."))
    }

    /// Replaces children of older settings, and those beyond a lowered maximum, one after the other.
    mutating func replaceOutdated(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        guard !children.values.contains(where: \.isLeaving) else { return }
        let active = children.values.filter(\.isActive).sorted { $0.generation < $1.generation }
        let outdated = active.first { $0.settingsEpoch < settingsEpoch }
        let surplus = active.count > settings.maxSpareServers ? active.last : nil
        if let child = outdated ?? surplus { askToDrain(child.generation, at: now, &actions) }
    }

    mutating func askToDrain(_ generation: Int32, at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction])
    {
        guard children[generation]?.isActive == true else { return }
        children[generation]?.phase = .draining(since: now)
        actions.append(.command(generation: generation, .drain, detail: nil))
    }

    private mutating func terminate(
        _ generation: Int32,
        _ cause: ChildExitReason,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) {
        guard let child = children[generation], child.isAlive else { return }
        switch child.phase {
        case .terminating, .killed, .settling: return
        case .starting, .running, .draining: break
        }
        children[generation]?.phase = .terminating(since: now)
        children[generation]?.endCause = cause
        actions.append(.command(generation: generation, .hurry, detail: nil))
        actions.append(.signal(generation: generation, Signals.terminate))
    }

    /// Ends the child that is stuck or takes too long to drain.
    mutating func watchChildren(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        // Without the database no child can make progress; what counts is what it does when that is back.
        if !isDatabaseAvailable {
            for generation in children.keys { children[generation]?.excuse(at: now) }
        }
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

    private func isStuck(_ child: ChildRecord, at now: ContinuousClock.Instant) -> Bool {
        min(child.heardAt, child.progressAt).advanced(by: settings.watchdogTime) <= now
    }

    /// Says from time to time what is waited for, and ends when there is nothing left.
    mutating func continueEnding(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        switch ending {
        case .no, .finished: return
        case .draining(let since, let saidAt):
            if sayWaiting(since, saidAt, at: now, &actions) { ending = .draining(since: since, saidAt: now) }
        case .hurrying(let since, let saidAt):
            if sayWaiting(since, saidAt, at: now, &actions) { ending = .hurrying(since: since, saidAt: now) }
            leaveJournalsBehind(&actions)
        }
        if children.isEmpty {
            ending = .finished
            actions.append(.finish)
        }
    }

    /// In a hurry nobody waits for a database that is away: the journals keep what is in them for the next start.
    private mutating func leaveJournalsBehind(_ actions: inout [SupervisorAction]) {
        guard !children.isEmpty, !isDatabaseAvailable, !children.values.contains(where: \.isAlive) else { return }
        actions.append(
            .log(.warning, "The database is away; \(children.count) journals stay and are replayed at the next start.")
        )
        children.removeAll()
    }

    private func sayWaiting(
        _ since: ContinuousClock.Instant,
        _ saidAt: ContinuousClock.Instant,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) -> Bool {
        guard !children.isEmpty, saidAt.advanced(by: Self.waitingReportInterval) <= now else { return false }
        actions.append(.log(.notice, "Still draining after \((now - since).components.seconds) s. " + waitingText))
        return true
    }

    /// Which children are waited for, and what could be sent twice if they were killed now.
    private var waitingText: String {
        guard !children.isEmpty else { return "No child is running." }
        let lines = children.values.sorted { $0.generation < $1.generation }.map { child in
            let parts = child.status?.partsHeld ?? 0
            let messages = child.status?.inFlight ?? 0
            return child.phase == .settling
                ? "child \(child.generation) (gone, its journal is not replayed yet)"
                : "child \(child.generation) (\(parts) parts, \(messages) messages on the wire)"
        }
        return "Waiting for " + lines.joined(separator: ", ") + "."
    }
}
