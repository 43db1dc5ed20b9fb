import Logging
import Store

extension SupervisorPlan {
    /// Marks the children whose application or external account has changed since the last look: they took it over when they were
    /// started, and would go on with it until they are replaced for another reason.
    mutating func routesSeen(_ seen: RouteVersions, _ actions: inout [SupervisorAction]) {
        defer { routes = seen }
        guard let before = routes, before != seen, ending == .no else { return }
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
