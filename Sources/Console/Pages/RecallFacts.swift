import PushCore
import Store

/// What became of a recall so far.
struct RecallFacts: Sendable {
    /// The delivery that replaces or removes what was sent.
    struct Child: Sendable {
        let progress: DeliveryProgress
        let approval: DeliveryApproval
    }

    let report: RecallReport
    /// Nil if nothing replaces or removes what was sent.
    let child: Child?

    /// Devices that are on confirm a removal within this time; of the others, a page that is open does not wait.
    private static let confirmationMilliseconds: Int64 = 3_600_000

    /// Nil if the delivery was not recalled.
    static func read(_ store: Store, _ id: Int64) async throws -> RecallFacts? {
        guard let report = try await store.recallReport(ofDelivery: id) else { return nil }
        var child: Child?
        if let id = report.child {
            child = Child(
                progress: try await store.deliveryProgress(id),
                approval: try await store.approval(ofDelivery: id)
            )
        }
        return RecallFacts(report: report, child: child)
    }

    /// Whether its second delivery has ended without having begun: the delivery can be recalled again.
    private var isGivenUp: Bool {
        guard let progress = child?.progress else { return false }
        return progress.state == .stopped && progress.startedAt == nil
    }

    /// Whether its report changes no more.
    func isOver(at now: DatabaseTime) -> Bool {
        guard report.pending == 0 else { return false }
        guard let progress = child?.progress else { return true }
        guard progress.state.isFinal, progress.pending == 0 else { return false }
        guard report.mode == .remove, report.tooLate > 0, !isGivenUp, let end = progress.finishedAt else { return true }
        return end.advanced(byMilliseconds: Self.confirmationMilliseconds) <= now
    }
}
