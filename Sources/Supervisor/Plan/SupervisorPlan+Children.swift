import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

extension SupervisorPlan {
    mutating func wakeChildren(_ detail: String?, _ actions: inout [SupervisorAction]) {
        for generation in children.keys.sorted() where children[generation]?.isActive == true {
            actions.append(.command(generation: generation, .wake, detail: detail))
        }
    }

    mutating func wakeChildren(for parts: Set<ReadyMessagePart>, _ actions: inout [SupervisorAction]) {
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isActive,
                parts.contains(where: {
                    $0.applicationID == child.kind.applicationID && $0.accountID == child.kind.accountID
                })
            else { continue }
            actions.append(.command(generation: generation, .wake, detail: SupervisorMessage.messageDetail))
        }
    }

    mutating func heard(_ generation: Int32, _ status: ChildStatus, at now: ContinuousClock.Instant) {
        guard var child = children[generation], child.isAlive else { return }
        child.heard(status, at: now)
        if child.isIdle, !work.contains(where: { $0.kind == child.kind }) { child.isLarge = false }
        children[generation] = child
        guard child.hasResolvedAMessage else { return }
        if throttles[child.kind]?.isRefuted(byChildOf: child.startedAt) ?? false { throttles[child.kind] = nil }
        if child.isActive, !child.isStalled { backOffs[child.kind] = nil }
    }

    mutating func childNotRegistered(_ generation: Int32, at now: ContinuousClock.Instant) {
        // Nothing was started, so nothing has to be recovered; the work is still ready when the database is back.
        children[generation] = nil
        databaseAnswered(false, at: now)
    }

    mutating func childEnded(
        _ generation: Int32,
        _ termination: ChildTermination,
        _ outOfMemoryKillSeen: Bool,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) {
        guard var child = children[generation], child.isAlive else { return }
        let end = ChildEnd(
            termination,
            announced: child.status?.exitReason,
            endedBecause: child.endCause,
            outOfMemoryKillSeen: outOfMemoryKillSeen
        )
        // A child ended by the watchdog counts as one that died.
        let wasAsked = child.isLeaving && child.endCause != .stuck
        child.phase = .recovering(since: now)
        children[generation] = child
        actions.append(.recover(generation: generation, end))
        if end.reason == .circuitOpen || end.reason == .gatewayTrouble { foundClosed(child.kind) }
        // Its own look came last, so the ready work that we know of is gone.
        if end.reason == .idle { work.removeAll { $0.kind == child.kind } }
        if end.reason == .gatewayTrouble { probesSoon[child.kind] = now.advanced(by: ProbePace.longest * 2) }
        report(child, end, termination, wasAsked: wasAsked, at: now, &actions)
    }

    /// The known ready work is older than the open circuit or the gateway's trouble. The next look shows what may be
    /// claimed now: nothing, or one part when a probe is due.
    private mutating func foundClosed(_ kind: ChildKind) {
        work.removeAll { $0.kind == kind }
        openCircuits.insert(kind)
    }

    private mutating func report(
        _ child: ChildRecord,
        _ end: ChildEnd,
        _ termination: ChildTermination,
        wasAsked: Bool,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) {
        let name = "\(name(child)) for \(text(child.kind))"
        let keys = keys(child).merging(["reason": "\(end.reason.rawValue)"]) { $1 }
        if end.reason.isOrderly {
            actions.append(.log(PlanLine(.childRecycled, "\(name) has ended: \(end.reason.rawValue).", keys)))
            return
        }
        guard !child.hasResolvedAMessage, !wasAsked else {
            let text = "\(name) has died: \(end.reason.rawValue), \(end.detail)."
            actions.append(.log(PlanLine(.childDied, text, keys)))
            return
        }
        let pause = throttles[child.kind, default: SpawnThrottle()]
            .diedEarly(EarlyDeath(end.reason, termination), at: now)
        actions.append(
            .log(
                PlanLine(
                    .childDied,
                    "\(name) died before its first message: \(end.reason.rawValue), \(end.detail). "
                        + "No other child is started for this kind in the next \(pause.components.seconds) s; "
                        + "the tail of its standard error is in pushmta.mta_child.",
                    level: .error,
                    keys
                )
            )
        )
    }
}

extension SupervisorPlan {
    /// Ends children that are stuck or take too long to drain.
    mutating func watchChildren(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        // No child can make progress without the database, so their timeouts start over when it is back.
        if !database.isAvailable { excuseChildren(at: now) }
        for generation in children.keys.sorted() {
            guard let child = children[generation] else { continue }
            switch child.phase {
            case .terminating(let since) where since.advanced(by: settings.killDelay) <= now:
                children[generation]?.phase = .killed
                actions.append(
                    .log(PlanLine(.error, "\(name(child)) did not exit after SIGTERM and gets SIGKILL.", keys(child)))
                )
                actions.append(.signal(generation: generation, Signals.kill))
            case .draining(let since) where since.advanced(by: settings.drainTime) <= now:
                actions.append(
                    .log(PlanLine(.warning, "\(name(child)) did not drain in time and gets SIGTERM.", keys(child)))
                )
                terminate(generation, .drainTimeout, at: now, &actions)
            case .starting, .running, .draining:
                guard isStuck(child, at: now) else { continue }
                actions.append(
                    .log(PlanLine(.error, "\(name(child)) makes no progress and gets SIGTERM.", keys(child)))
                )
                terminate(generation, .stuck, at: now, &actions)
            case .terminating, .killed, .recovering: continue
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

extension SupervisorPlan {
    /// How often an ending supervisor logs what it waits for.
    static let waitingReportInterval = Duration.seconds(15)
    /// How long a draining supervisor waits for a lost database: longer than a restart takes.
    static let databaseTimeout = Duration.seconds(5)
    /// How long it waits for the journals of ended children while the database answers.
    static let recoveryTimeout = Duration.seconds(30)
    /// The same during a fast shutdown.
    static let fastShutdownTimeout = Duration.seconds(10)

    mutating func drain(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return fastShutdown(at: now, &actions) }
        ending = .draining(since: now, saidAt: now)
        actions.append(.log(PlanLine(.notice, "Draining: nothing new is claimed. " + waitingText)))
        for generation in children.keys.sorted() { askToDrain(generation, at: now, &actions) }
    }

    /// Ends every child with SIGTERM at once, and with SIGKILL if it is still running after the kill delay.
    mutating func fastShutdown(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        ending = .fastShutdown(since: now, saidAt: now)
        actions.append(.log(PlanLine(.notice, "Fast shutdown. " + waitingText)))
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
        case .terminating, .killed, .recovering: return
        case .starting, .running, .draining: break
        }
        children[generation]?.phase = .terminating(since: now)
        children[generation]?.endCause = cause
        actions.append(.command(generation: generation, .fastShutdown, detail: nil))
        actions.append(.signal(generation: generation, Signals.terminate))
    }

    /// Logs from time to time what it waits for, and finishes when nothing is left.
    mutating func continueEnding(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        switch ending {
        case .no, .finished: return
        case .draining(let since, let saidAt):
            if sayWaiting(since, saidAt, at: now, &actions) { ending = .draining(since: since, saidAt: now) }
            if isDatabaseGone(at: now) { shutDownFastWithoutDatabase(&actions) }
            leaveJournalsBehind(at: now, timeout: Self.recoveryTimeout, &actions)
        case .fastShutdown(let since, let saidAt):
            if sayWaiting(since, saidAt, at: now, &actions) { ending = .fastShutdown(since: since, saidAt: now) }
            leaveJournalsBehind(at: now, timeout: database.isAvailable ? Self.fastShutdownTimeout : .zero, &actions)
        }
        if children.isEmpty {
            ending = .finished
            actions.append(.finish)
        }
    }

    /// Whether the database has been unreachable for longer than a restart takes.
    private func isDatabaseGone(at now: ContinuousClock.Instant) -> Bool {
        database.awaySince.map { $0.advanced(by: Self.databaseTimeout) <= now } ?? false
    }

    /// Tells draining children not to wait for an unreachable database: they resolve what is on the wire and keep their
    /// journals.
    private mutating func shutDownFastWithoutDatabase(_ actions: inout [SupervisorAction]) {
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isAlive, !child.isShuttingDownFast else { continue }
            children[generation]?.isShuttingDownFast = true
            actions.append(.command(generation: generation, .fastShutdown, detail: nil))
        }
    }

    /// Stops waiting for an unreachable database: the journals keep their content for the next start.
    private mutating func leaveJournalsBehind(
        at now: ContinuousClock.Instant,
        timeout: Duration,
        _ actions: inout [SupervisorAction]
    ) {
        let timeout = isDatabaseGone(at: now) ? .zero : timeout
        let waiting = children.values.map(\.recoveringSince)
        guard !waiting.isEmpty, waiting.allSatisfy({ $0.map { $0.advanced(by: timeout) <= now } ?? false }) else {
            return
        }
        actions.append(
            .log(
                PlanLine(
                    .warning,
                    "The database is unreachable or slow; \(children.count) journals are kept and replayed at the next start."
                )
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
        let time = (now - since).components.seconds
        actions.append(.log(PlanLine(.notice, "Still draining after \(time) s. " + waitingText)))
        return true
    }

    /// The children it waits for, and what could be sent twice if they were killed now.
    private var waitingText: String {
        guard !children.isEmpty else { return "No child is running." }
        let lines = children.values.sorted { $0.generation < $1.generation }.map { child in
            let parts = child.status?.report.partsHeld ?? 0
            let messages = child.status?.report.inFlight ?? 0
            return !child.isAlive
                ? "\(text(child)) (gone, its journal is not replayed yet)"
                : "\(text(child)) (\(parts) parts, \(messages) messages on the wire)"
        }
        return "Waiting for " + lines.joined(separator: ", ") + "."
    }
}
