import Logging
import ProcessProtocol

extension SupervisorPlan {
    /// How often an ending supervisor says what it waits for.
    static let waitingReportInterval = Duration.seconds(15)
    /// How long a supervisor that drains waits for a database that has gone away: a restart takes less.
    static let databasePatience = Duration.seconds(5)
    /// How long it waits for the journals of children that are gone, while the database answers.
    static let settlingPatience = Duration.seconds(30)
    /// The same in a hurry.
    static let hurriedPatience = Duration.seconds(10)

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

    mutating func askToDrain(_ generation: Int32, at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction])
    {
        guard children[generation]?.isActive == true else { return }
        children[generation]?.phase = .draining(since: now)
        actions.append(.command(generation: generation, .drain, detail: nil))
    }

    mutating func terminate(
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

    /// Says from time to time what is waited for, and ends when there is nothing left.
    mutating func continueEnding(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        switch ending {
        case .no, .finished: return
        case .draining(let since, let saidAt):
            if sayWaiting(since, saidAt, at: now, &actions) { ending = .draining(since: since, saidAt: now) }
            if isDatabaseGone(at: now) { hurryWithoutDatabase(&actions) }
            leaveJournalsBehind(at: now, patience: Self.settlingPatience, &actions)
        case .hurrying(let since, let saidAt):
            if sayWaiting(since, saidAt, at: now, &actions) { ending = .hurrying(since: since, saidAt: now) }
            leaveJournalsBehind(at: now, patience: isDatabaseAvailable ? Self.hurriedPatience : .zero, &actions)
        }
        if children.isEmpty {
            ending = .finished
            actions.append(.finish)
        }
    }

    /// Whether the database has been away for so long that it is no restart.
    private func isDatabaseGone(at now: ContinuousClock.Instant) -> Bool {
        databaseAwaySince.map { $0.advanced(by: Self.databasePatience) <= now } ?? false
    }

    /// Tells draining children not to wait for a database that is away: they settle what is on the wire and keep their journals.
    private mutating func hurryWithoutDatabase(_ actions: inout [SupervisorAction]) {
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isAlive, !child.isHurried else { continue }
            children[generation]?.isHurried = true
            actions.append(.command(generation: generation, .hurry, detail: nil))
        }
    }

    /// Nobody waits for ever for a database that is away: the journals keep what is in them for the next start.
    private mutating func leaveJournalsBehind(
        at now: ContinuousClock.Instant,
        patience: Duration,
        _ actions: inout [SupervisorAction]
    ) {
        let patience = isDatabaseGone(at: now) ? .zero : patience
        let waiting = children.values.map(\.settlingSince)
        guard !waiting.isEmpty, waiting.allSatisfy({ $0.map { $0.advanced(by: patience) <= now } ?? false }) else {
            return
        }
        actions.append(
            .log(
                .warning,
                "The database is away or slow; \(children.count) journals stay and are replayed at the next start."
            )
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
            return !child.isAlive
                ? "child \(child.generation) (gone, its journal is not replayed yet)"
                : "child \(child.generation) (\(parts) parts, \(messages) messages on the wire)"
        }
        return "Waiting for " + lines.joined(separator: ", ") + "."
    }
}
