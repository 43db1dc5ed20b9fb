import Logging
import ProcessProtocol
import Store

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
                .notice,
                "Accounts or applications have changed; \(outdated.count) of \(aliveCount) children are replaced one by one."
            )
        )
    }

    /// Somebody has put right what was wrong with applications: their children are started without a pause, and running ones do not
    /// wait either.
    mutating func resumed(_ applications: Set<Int32>, _ actions: inout [SupervisorAction]) {
        guard ending == .no else { return }
        let waiting = throttles.keys.filter { applications.contains($0.applicationID) }.sorted()
        for kind in waiting { throttles[kind] = nil }
        setBacks = setBacks.filter { !applications.contains($0.key.applicationID) }
        openCircuits = openCircuits.filter { !applications.contains($0.applicationID) }
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isActive, applications.contains(child.kind.applicationID)
            else {
                continue
            }
            actions.append(.command(generation: generation, .wake, detail: SupervisorMessage.resumeDetail))
        }
        let names = applications.sorted().map(String.init).joined(separator: ", ")
        let ended = waiting.map { ", children for \($0) are started again" }.joined()
        actions.append(.log(.notice, "An operator has resumed applications: \(names)\(ended)."))
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
