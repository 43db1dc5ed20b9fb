import Logging
import ProcessProtocol

extension SupervisorPlan {
    mutating func wakeChildren(_ detail: String?, _ actions: inout [SupervisorAction]) {
        for generation in children.keys.sorted() where children[generation]?.isActive == true {
            actions.append(.command(generation: generation, .wake, detail: detail))
        }
    }

    mutating func heard(_ generation: Int32, _ status: ChildStatus, at now: ContinuousClock.Instant) {
        guard var child = children[generation], child.isAlive else { return }
        child.heard(status, at: now)
        children[generation] = child
        if child.hasSettledAMessage { throttles[child.kind] = nil }
    }

    mutating func childNotRegistered(_ generation: Int32) {
        // Nothing was started, so nothing has to be settled; the work is still on offer when the database is back.
        children[generation] = nil
        isDatabaseAvailable = false
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
        let wasAsked = child.isLeaving
        child.phase = .settling
        children[generation] = child
        actions.append(.settle(generation: generation, end))
        report(child, end, wasAsked: wasAsked, at: now, &actions)
    }

    private mutating func report(
        _ child: ChildRecord,
        _ end: ChildEnd,
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
        let pause = throttles[child.kind, default: SpawnThrottle()].diedEarly(end.reason, at: now)
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
