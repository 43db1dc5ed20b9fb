import PushCore
import Store

/// The experiment of a delivery: its variants, their results, and what one may conclude, on the delivery's page.
struct ExperimentView {
    let row: ExperimentRow
    let variants: [ExperimentVariantRow]
    /// Whether the user may choose the winner.
    let isAllowed: Bool
    let catalogue: Catalogue

    var values: PageValues {
        let state = self.state
        let mayChoose = isAllowed && (row.state == .running || row.state == .undecided)
        return [
            "experimentState": .text(catalogue[state.words]), "experimentClass": .text(state.look),
            "experimentFacts": .list(facts),
            "variantRows": .list(variants.map { variant($0, mayChoose: mayChoose) }),
            "conclusions": .list(variants.compactMap(\.againstFirst).map { ["words": .text($0)] }),
            "hasConclusions": .flag(variants.contains { $0.againstFirst != nil }),
        ]
    }

    /// The state, and the class of its chip.
    private var state: (words: Phrase, look: String) {
        switch row.state {
        case .waiting: (.experimentWaiting, "")
        case .running: (.experimentRunning, "health-alive")
        case .decided: (.experimentDecided, "")
        case .undecided: (.experimentOpen, "fair")
        }
    }

    private var facts: [PageValues] {
        let pairs: [(Phrase, String)] = [
            (.experimentMetric, catalogue[ExperimentForm.name(row.metric)]),
            (.experimentHoldOut, row.holdOutPercent > 0 ? RateNumber.shown(row.holdOutPercent) : ""),
            (.experimentDecides, row.decidesAt.map(Figures.minute) ?? ""), (.experimentWinner, row.winnerLabel ?? ""),
            (.experimentDecidedAt, row.decidedAt.map(Figures.minute) ?? ""), (.columnReason, row.decision),
            (.experimentCounted, row.countedAt.map(Figures.minute) ?? ""),
        ]
        return pairs.filter { !$0.1.isEmpty }.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }

    private func variant(_ row: ExperimentVariantRow, mayChoose: Bool) -> PageValues {
        var values: PageValues = [
            "label": .text(row.isRest ? catalogue[.experimentRest] : row.label),
            "percent": .text(RateNumber.shown(row.percent)), "messages": .text(Figures.count(row.messages)),
            "sent": .text(Figures.count(row.sent)), "received": .text(Figures.count(row.received)),
            "clicked": .text(Figures.count(row.clicked)), "converted": .text(Figures.count(row.converted)),
            "isWinner": .flag(row.variant == self.row.winner),
        ]
        if isAllowed, !row.isRest {
            values["look"] = .group(["path": .text(VariantPage.path(self.row.deliveryID, row.variant))])
        }
        if mayChoose, !row.isRest { values["choose"] = .group(["variant": .text("\(row.variant)")]) }
        return values
    }
}
