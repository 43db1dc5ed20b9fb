import Logging
import ProcessEvents
import ProcessProtocol
import Store

extension SupervisorPlan {
    /// How long an old child waits for its replacement to show what it can do. One that is started and still has shown nothing
    /// then has a gateway that does not answer, and the old child has the same.
    static let handoverTimeout = Duration.seconds(30)

    mutating func reload(_ new: SpawnSettings, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        settings = new
        throttles.removeAll()
        backOffs.removeAll()
        outdateChildren()
        let text = "Settings read again; \(aliveCount) children are replaced one by one."
        actions.append(.log(PlanLine(.childrenReplaced, text, ["reason": "settings"])))
    }

    mutating func restart(_ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        outdateChildren()
        let text = "It is the restart time; \(aliveCount) children are replaced one by one."
        actions.append(.log(PlanLine(.childrenReplaced, text, ["reason": "daily"])))
    }

    /// An operator wants other children in the place of some.
    mutating func recycleRequested(_ ids: Set<Int64>, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isActive, !child.isOutdated,
                child.id.map({ ids.contains($0) }) ?? false
            else { continue }
            children[generation]?.isOutdated = true
            actions.append(
                .log(
                    PlanLine(
                        .childrenReplaced,
                        "An operator has asked for another child in the place of \(name(child)) for \(text(child.kind)).",
                        keys(child).merging(["reason": "request"]) { $1 }
                    )
                )
            )
        }
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
        if active.count > settings.maxChildren {
            if let child = outdated ?? active.last { askToDrain(child.generation, at: now, &actions) }
        } else if let grown = grownBeyondPlaces(active, at: now) {
            actions.append(.log(PlanLine(.info, "\(name(grown)) has more to do than there are places.", keys(grown))))
            leaveAtOnce(grown.generation, at: now, &actions)
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
        let reason = "\(text(old)) is outdated: another one takes its place before it leaves"
        actions.append(.log(PlanLine(.debug, reason, keys(old))))
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
        let isPatient = now < handover.since.advanced(by: Self.handoverTimeout)
        guard new.isProven || !isPatient && new.phase == .running else { return true }
        self.handover = nil
        askToDrain(old.generation, at: now, &actions)
        return true
    }
}

extension SupervisorPlan {
    /// Marks the children whose application or external account has changed since the last look: they took it over when they were
    /// started, and would go on with it until they are replaced for another reason.
    mutating func routesSeen(_ seen: RouteVersions, _ actions: inout [SupervisorAction]) {
        defer { routes = seen }
        guard let before = routes, before != seen, ending == .no else { return }
        // What the children died of may have been just that.
        for kind in throttles.keys where isChanged(kind, from: before, to: seen) { throttles[kind] = nil }
        let outdated = children.values.filter { $0.isActive && isChanged($0.kind, from: before, to: seen) }
        guard !outdated.isEmpty else { return }
        for child in outdated { children[child.generation]?.isOutdated = true }
        actions.append(
            .log(
                PlanLine(
                    .childrenReplaced,
                    "Accounts, applications or credentials have changed; \(outdated.count) of \(aliveCount) children are replaced one by one: "
                        + Set(outdated.map(\.kind)).sorted().map(text).joined(separator: ", ") + ".",
                    ["reason": "route"]
                )
            )
        )
    }

    /// Somebody has put right what was wrong with applications: their children are started without a pause, and running ones do not
    /// wait either.
    mutating func resumed(_ applications: Set<Int32>, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        let waiting = throttles.keys.filter { applications.contains($0.applicationID) }.sorted()
        for kind in waiting { throttles[kind] = nil }
        backOffs = backOffs.filter { !applications.contains($0.key.applicationID) }
        openCircuits = openCircuits.filter { !applications.contains($0.applicationID) }
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isActive, applications.contains(child.kind.applicationID)
            else {
                continue
            }
            actions.append(.command(generation: generation, .wake, detail: SupervisorMessage.resumeDetail))
        }
        let names = applications.sorted().map(application).joined(separator: ", ")
        let ended = waiting.map { ", children for \(text($0)) are started again" }.joined()
        actions.append(.log(PlanLine(.notice, "An operator has resumed applications: \(names)\(ended).")))
    }

    /// What was not there at the last look was there when its child was started.
    private func isChanged(_ kind: ChildKind, from before: RouteVersions, to seen: RouteVersions) -> Bool {
        if let application = before.applications[kind.applicationID],
            application != seen.applications[kind.applicationID]
        {
            return true
        }
        guard let account = before.accounts[kind.accountID] else { return false }
        return account != seen.accounts[kind.accountID]
    }

    /// Whether a child of the kind could still be started: an account with another connector has children of another kind, which are
    /// started for the work that is on offer.
    func isCurrent(_ kind: ChildKind) -> Bool {
        guard let account = routes?.accounts[kind.accountID] else { return true }
        return account.connector == kind.connector
    }
}

/// One child on its way out and the one that is to do its work.
struct Handover: Sendable, Equatable {
    var old: Int32
    var new: Int32
    var since: ContinuousClock.Instant
}
