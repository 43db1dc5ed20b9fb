import PushCore
import Store

/// What became of the messages of a recalled delivery, on its page.
struct RecallView {
    /// The delivery that replaces or removes what was sent.
    struct Child: Sendable {
        let progress: DeliveryProgress
        let approval: DeliveryApproval
    }

    let report: RecallReport
    /// Nil if nothing replaces or removes what was sent.
    let child: Child?
    let catalogue: Catalogue

    /// Nil if the delivery was not recalled.
    static func read(_ store: Store, _ id: Int64, _ catalogue: Catalogue) async throws -> RecallView? {
        guard let report = try await store.recallReport(ofDelivery: id) else { return nil }
        var child: Child?
        if let id = report.child {
            child = Child(
                progress: try await store.deliveryProgress(id),
                approval: try await store.approval(ofDelivery: id)
            )
        }
        return RecallView(report: report, child: child, catalogue: catalogue)
    }

    var values: PageValues {
        var values: PageValues = ["recallFacts": .list(facts)]
        if let child {
            let words = DeliveryWords(row: child.progress, catalogue: catalogue, standing: child.approval.standing)
            values["child"] = .group([
                "childID": .text("\(child.progress.id)"), "childState": .text(words.state.words),
                "childClass": .text(words.state.style),
            ])
        }
        return values
    }

    /// Messages whose replacement or removal may still come, or may have come without a word of the device.
    private var outstanding: Int64 {
        guard let child else { return 0 }
        let progress = child.progress
        let unconfirmed = report.mode == .remove ? max(progress.sent - report.removed, 0) : 0
        // Before its messages are made, nobody knows whom it reaches.
        let waiting = progress.state.isFinal ? 0 : progress.prepared ? progress.pending : report.tooLate
        return min(unconfirmed + waiting, report.tooLate)
    }

    private var facts: [PageValues] {
        var pairs: [(Phrase, String)] = [
            (.recalledReason, report.reason), (.recalledBy, report.recalledBy),
            (.outcomePending, Figures.count(report.pending)), (.recallUnsent, Figures.count(report.unsent)),
        ]
        switch report.mode {
        case .stop: break
        case .replace:
            pairs.append((.recallReplaced, Figures.count(report.replaced)))
            pairs.append((.recallNotReplaced, Figures.count(outstanding)))
        case .remove:
            pairs.append((.recallRemoved, Figures.count(report.removed)))
            pairs.append((.recallNotRemoved, Figures.count(outstanding)))
        }
        pairs.append((.recallTooLate, Figures.count(report.tooLate - outstanding)))
        return pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }
}
