import PushCore
import Store

extension DeliveryDetailPage {
    /// Who has to approve a delivery that has not begun, or who did, and how its start is given: by a start or, if it
    /// lacks an approval, by a request for one. The other cannot be done.
    ///
    /// - Parameters:
    ///   - mayEdit: whether the user may take it back.
    ///   - refused: a decision that was refused, shown at its field; an error if the page no longer has it.
    func approval(_ call: ConsoleCall, _ progress: DeliveryProgress, mayEdit: Bool, refused: RefusedDecision?)
        async throws -> (values: PageValues, barred: Set<DeliveryAction>)
    {
        guard [.analysing, .ready, .pending].contains(progress.state) else {
            if let refused { throw ConsoleProblem.conflict(refused.problem) }
            return ([:], [.request])
        }
        let reader = DeliveryStartFacts(catalogue: catalogue)
        let (approval, rules) = try await responder.database.run { store in
            let approval = try await store.approval(ofDelivery: progress.id)
            // Those who approve it see what its author confirms.
            let rules =
                approval.isAwaited
                ? try await reader.read(store, progress.id, start: approval.startsAt).facts : []
            return (approval, rules)
        }
        let needsRequest = progress.state == .analysing ? approval.above != nil : approval.isAwaited
        let isRequested = progress.state == .analysing && approval.requested != nil
        let barred: Set<DeliveryAction> = isRequested ? [.start, .request] : needsRequest ? [.start] : [.request]
        let view = ApprovalView(
            approval: approval,
            state: progress.state,
            now: progress.now,
            reader: call.session,
            mayEdit: mayEdit,
            refused: refused,
            rules: rules,
            catalogue: catalogue
        )
        if let refused, view.isEmpty || !view.mayDecide { throw ConsoleProblem.conflict(refused.problem) }
        guard !view.isEmpty else { return ([:], barred) }
        return (["approval": .group(view.values)], barred)
    }
}
