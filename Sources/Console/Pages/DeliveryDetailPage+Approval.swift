import PushCore
import Store

extension DeliveryDetailPage {
    /// Who has to approve a delivery that has not begun, or who did, and how its start is given: by a start or, if it
    /// lacks an approval, by a request for one. The other cannot be done.
    ///
    /// - Parameters:
    ///   - mayEdit: whether the user may take it back.
    ///   - refused: a decision that was refused, shown at its field.
    /// - Returns: what the page shows, what cannot be done, and whether the delivery can start as soon as it is approved
    ///   instead of at its time.
    func approval(_ call: ConsoleCall, _ progress: DeliveryProgress, mayEdit: Bool, refused: RefusedDecision?)
        async throws -> (values: PageValues, barred: Set<DeliveryAction>, mayAwait: Bool)
    {
        // Where its field is gone, the page says it above all.
        var told: PageValues = [:]
        if let refused { told["startProblem"] = .group(["words": .text(refused.problem)]) }
        let isPaused = progress.state == .paused && progress.startedAt == nil
        guard isPaused || [.analysing, .ready, .pending].contains(progress.state) else {
            return (told, [.request], false)
        }
        let reader = DeliveryStartFacts(catalogue: catalogue)
        let (approval, isRecall, rules) = try await responder.database.run { store in
            let approval = try await store.approval(ofDelivery: progress.id)
            // Those who approve it see what its author confirms.
            let rules =
                approval.isAwaited
                ? try await reader.read(store, progress.id, start: approval.startsAt).facts : []
            return (approval, try await store.delivery(recalledBy: progress.id) != nil, rules)
        }
        let standing = try await standing(progress.id)
        let heldRun = try await heldRun(standing)
        let needsRequest = progress.state == .analysing ? approval.above != nil : approval.isAwaited
        let isRequested = progress.state == .analysing && approval.requested != nil
        let barred: Set<DeliveryAction> = isRequested ? [.start, .request] : needsRequest ? [.start] : [.request]
        let view = ApprovalView(
            approval: approval,
            state: progress.state,
            now: progress.now,
            reader: call.session,
            mayEdit: mayEdit,
            isRecall: isRecall,
            recurrence: standing,
            heldRun: heldRun,
            refused: refused,
            rules: rules,
            catalogue: catalogue
        )
        let mayAwait = approval.isAwaited && !approval.startsApproved
        guard !view.isEmpty else { return (told, barred, mayAwait) }
        var values: PageValues = view.mayDecide ? [:] : told
        values["approval"] = .group(view.values)
        return (values, barred, mayAwait)
    }

    /// The run that waits for the approval of its recurring delivery.
    private func heldRun(_ standing: RecurrenceStanding?) async throws -> Int64? {
        guard let run = standing?.row.lastRun else { return nil }
        let waits = try await responder.database.run { store in
            let approval = try await store.approval(ofDelivery: run)
            return try await store.deliveryProgress(run).state == .pending && approval.isAwaited
        }
        return waits ? run : nil
    }
}
