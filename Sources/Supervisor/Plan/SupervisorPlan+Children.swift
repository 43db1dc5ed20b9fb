import Logging
import ProcessProtocol
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
        children[generation] = child
        guard child.hasSettledAMessage else { return }
        if throttles[child.kind]?.isRefuted(byChildOf: child.startedAt) ?? false { throttles[child.kind] = nil }
        if child.isActive, !child.isBarren { setBacks[child.kind] = nil }
    }

    mutating func childNotRegistered(_ generation: Int32, at now: ContinuousClock.Instant) {
        // Nothing was started, so nothing has to be settled; the work is still on offer when the database is back.
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
        // One that the watchdog asked to go has died by itself.
        let wasAsked = child.isLeaving && child.endCause != .stuck
        child.phase = .settling(since: now)
        children[generation] = child
        actions.append(.settle(generation: generation, end))
        if end.reason == .circuitOpen || end.reason == .gatewayTrouble { foundClosed(child.kind) }
        report(child, end, termination, wasAsked: wasAsked, at: now, &actions)
    }

    /// What was on offer was seen before the circuit opened, or the gateway's trouble began; what may be claimed now the next look shows:
    /// nothing, or one part when a probe is due.
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
        let name = "Child \(child.generation) for \(child.kind)"
        if end.reason.isOrderly {
            actions.append(.log(.info, "\(name) has ended: \(end.reason.rawValue)."))
            return
        }
        guard !child.hasSettledAMessage, !wasAsked else {
            actions.append(.log(.warning, "\(name) has died: \(end.reason.rawValue), \(end.detail)."))
            return
        }
        let pause = throttles[child.kind, default: SpawnThrottle()]
            .diedEarly(EarlyDeath(end.reason, termination), at: now)
        actions.append(
            .log(
                .error,
                "\(name) died before its first message: \(end.reason.rawValue), \(end.detail). "
                    + "No other is started for it in the next \(pause.components.seconds) s; "
                    + "its last words are in pushmta.mta_child."
            )
        )
    }
}
