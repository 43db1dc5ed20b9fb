import PushCore
import Store

extension DeliveryDetailPage {
    /// Who has to approve a delivery that has not begun, or who did, and how its start is given: by a start or, if it
    /// lacks an approval, by a request for one. The other cannot be done.
    func approval(_ call: ConsoleCall, _ progress: DeliveryProgress) async throws
        -> (values: PageValues, barred: Set<DeliveryAction>)
    {
        guard [.analysing, .ready, .pending].contains(progress.state) else { return ([:], [.request]) }
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
            rules: rules,
            catalogue: catalogue
        )
        guard !view.isEmpty else { return ([:], barred) }
        let words = DeliveryWords(row: progress, catalogue: catalogue, standing: approval.standing)
        return (
            [
                "approval": .group(view.values), "state": .text(words.state.words),
                "stateClass": .text(words.state.style),
            ],
            barred
        )
    }
}
