import Logging

extension SupervisorPlan {
    /// How long an old child waits for its replacement to show what it can do. One that is started and still has shown nothing
    /// then has a gateway that does not answer, and the old child has the same.
    static let handoverPatience = Duration.seconds(30)

    mutating func reload(_ new: SpawnSettings, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        settings = new
        throttles.removeAll()
        setBacks.removeAll()
        outdateChildren()
        actions.append(.log(.notice, "Settings read again; \(aliveCount) children are replaced one by one."))
    }

    mutating func restart(_ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        outdateChildren()
        actions.append(.log(.notice, "It is the restart time; \(aliveCount) children are replaced one by one."))
    }

    private mutating func outdateChildren() {
        settingsEpoch += 1
        handover = nil
    }

    /// Replaces outdated children, one after the other, and ends those beyond a lowered maximum.
    ///
    /// A replacement that has proved itself comes first, in a place above the maximum if need be, and only then its
    /// predecessor drains: the rate stays what it was, and settings with which no child can work end no child that can.
    mutating func replaceOutdated(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        if isHandingOver(at: now, &actions) { return }
        // One at a time, whyever it leaves.
        guard !children.values.contains(where: \.isLeaving) else { return }
        let active = children.values.filter(\.isActive).sorted { $0.generation < $1.generation }
        let outdated = active.first { $0.settingsEpoch < settingsEpoch || $0.isOutdated }
        if active.count > settings.maxSpareServers {
            if let child = outdated ?? active.last { askToDrain(child.generation, at: now, &actions) }
        } else if let outdated {
            replace(outdated, at: now, &actions)
        }
    }

    private mutating func replace(
        _ old: ChildRecord,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) {
        let isNeeded =
            isCurrent(old.kind) && (old.isBusy || !old.isIdle || work.contains { $0.kind == old.kind })
        guard isNeeded else { return askToDrain(old.generation, at: now, &actions) }
        guard maySpawn(old.kind, at: now) else { return }
        handover = Handover(old: old.generation, new: start(old.kind, at: now, &actions), since: now)
    }

    /// Goes on with the replacement that is under way; false if there is none.
    private mutating func isHandingOver(
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) -> Bool {
        guard let handover else { return false }
        guard let old = children[handover.old], let new = children[handover.new], old.isActive, new.isActive else {
            // One of them has gone its own way; whoever is outdated is looked for anew.
            self.handover = nil
            return false
        }
        let isPatient = now < handover.since.advanced(by: Self.handoverPatience)
        guard new.isProven || !isPatient && new.phase == .running else { return true }
        self.handover = nil
        askToDrain(old.generation, at: now, &actions)
        return true
    }
}
