import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

extension SupervisorPlan {
    /// How long an old child waits for its replacement to prove itself. If the replacement runs but has proved nothing
    /// by then, its gateway does not answer, and the old child has the same gateway.
    static let handoverTimeout = Duration.seconds(30)

    mutating func reload(_ new: SpawnSettings, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        settings = new
        throttles.removeAll()
        backOffs.removeAll()
        outdateChildren()
        let text = "Settings reloaded; \(aliveCount) children are replaced one by one."
        actions.append(.log(PlanLine(.childrenReplaced, text, ["reason": "settings"])))
    }

    mutating func restart(_ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        outdateChildren()
        let text = "It is the restart time; \(aliveCount) children are replaced one by one."
        actions.append(.log(PlanLine(.childrenReplaced, text, ["reason": "daily"])))
    }

    /// Marks children for replacement at an operator's request.
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
                        "An operator has requested the replacement of \(text(child)) for \(text(child.kind)).",
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

    /// Replaces outdated children one after the other, and ends those beyond a lowered maximum.
    ///
    /// The replacement starts first, if necessary in a place above the maximum. Its predecessor drains only after the
    /// replacement has proved itself. So the rate stays the same, and settings with which no child can work end no
    /// working child.
    mutating func replaceOutdated(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        if isHandingOver(at: now, &actions) { return }
        // One at a time, for whatever reason it leaves.
        guard !children.values.contains(where: \.isLeaving) else { return }
        let active = children.values.filter(\.isActive).sorted { $0.generation < $1.generation }
        let outdated = active.first { $0.settingsEpoch < settingsEpoch || $0.isOutdated }
        if active.count > settings.maxChildren {
            if let child = outdated ?? active.last { askToDrain(child.generation, at: now, &actions) }
        } else if let grown = grownBeyondPlaces(active, at: now) {
            actions.append(
                .log(
                    PlanLine(
                        .info,
                        "\(name(grown)) leaves: more children have much to send than there are places.",
                        keys(grown)
                    )
                )
            )
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
        let reason = "\(name(old)) is outdated and is replaced before it leaves"
        actions.append(.log(PlanLine(.debug, reason, keys(old))))
        handover = Handover(old: old.generation, new: start(old.kind, at: now, &actions), since: now)
    }

    /// Continues the replacement in progress; false if there is none.
    private mutating func isHandingOver(
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) -> Bool {
        guard let handover else { return false }
        guard let old = children[handover.old], let new = children[handover.new], old.isActive, new.isActive else {
            // One of them is leaving or gone; the next outdated child is chosen again.
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
    /// Marks children whose application or external account has changed since the last look. They loaded it when they
    /// were started, and would otherwise use the old version until replaced for another reason.
    mutating func routesSeen(_ seen: RouteVersions, _ actions: inout [SupervisorAction]) {
        defer { routes = seen }
        guard let before = routes, before != seen, ending == .no else { return }
        // The change may have fixed what the children died of.
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

    /// An operator has resumed applications: their children are started without a pause, and running ones stop waiting.
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

    /// An application or account that is new since the last look already existed when its child was started.
    private func isChanged(_ kind: ChildKind, from before: RouteVersions, to seen: RouteVersions) -> Bool {
        if let application = before.applications[kind.applicationID],
            application != seen.applications[kind.applicationID]
        {
            return true
        }
        guard let account = before.accounts[kind.accountID] else { return false }
        return account != seen.accounts[kind.accountID]
    }

    /// Whether a child of the kind could still be started. An account whose connector has changed gets children of
    /// another kind, which are started for its ready work.
    func isCurrent(_ kind: ChildKind) -> Bool {
        guard let account = routes?.accounts[kind.accountID] else { return true }
        return account.connector == kind.connector
    }
}

/// A child that is being replaced, and its replacement.
struct Handover: Sendable, Equatable {
    var old: Int32
    var new: Int32
    var since: ContinuousClock.Instant
}
