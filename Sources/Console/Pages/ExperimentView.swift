import PushCore
import Store

/// The experiment of a delivery: its variants, their results and the conclusion, on the delivery's page. All
/// readers of the page share it.
struct ExperimentView {
    let row: ExperimentRow
    let variants: [ExperimentVariantRow]
    /// The state of its delivery.
    let delivery: DeliveryState
    /// Whether its messages are made, so that the numbers of the variants are final.
    let isMade: Bool
    let catalogue: Catalogue

    /// Nil if the delivery has none.
    init?(_ facts: DeliveryFacts, _ catalogue: Catalogue) {
        guard let experiment = facts.reasons.experiment else { return nil }
        row = experiment.row
        variants = experiment.variants
        delivery = facts.progress.state
        isMade = facts.isMade
        self.catalogue = catalogue
    }

    var values: PageValues {
        let state = self.state
        let doubt = self.doubt
        // Nothing can be said of one that has not begun.
        let conclusions = row.state == .waiting ? [] : variants.compactMap(\.againstFirst)
        return [
            "doubts": .list(doubt.isEmpty ? [] : [["words": .text(doubt)]]),
            "experimentState": .text(catalogue[state.words]), "experimentClass": .text(state.look),
            "experimentFacts": .list(facts),
            "rateName": .text(catalogue.text(.experimentRate, catalogue[ExperimentForm.name(row.metric)])),
            "variantRows": .list(variants.map(variant)), "counted": .text(counted),
            "isCountedOnce": .flag(!counted.isEmpty),
            "conclusions": .list(conclusions.map { ["words": .text($0)] }),
            "hasConclusions": .flag(!conclusions.isEmpty),
        ]
    }

    /// The variants that a person may choose for the rest; empty if there is no rest, or if the experiment is over or
    /// has not begun.
    var choices: [PageValues] {
        guard !delivery.isFinal, row.state == .running || row.state == .undecided, Self.rest(of: variants) > 0
        else { return [] }
        return variants.filter { !$0.isRest }.map { ["label": .text($0.label), "variant": .text("\($0.variant)")] }
    }

    /// The messages that wait for the winner.
    static func rest(of variants: [ExperimentVariantRow]) -> Int64 { variants.first(where: \.isRest)?.messages ?? 0 }

    /// The variants that a person may preview and send as a proof.
    var looks: [PageValues] {
        variants.filter { !$0.isRest }.map {
            ["label": .text($0.label), "path": .text(VariantPage.path(row.deliveryID, $0.variant))]
        }
    }

    /// The state, and the class of its chip.
    private var state: (words: Phrase, look: String) {
        if isCut { return (.experimentEnded, "") }
        return switch row.state {
        case .waiting: (.experimentWaiting, "")
        case .running: (.experimentRunning, "health-alive")
        case .decided: (.experimentDecided, "")
        case .undecided: (.experimentOpen, "fair")
        }
    }

    /// Whether its delivery was stopped or recalled before it was decided. One that is finished is still counted.
    private var isCut: Bool {
        (delivery == .stopped || delivery == .recalled) && (row.state == .waiting || row.state == .running)
    }

    /// From when the results are: they are counted at their own pace, later than the figures of the delivery.
    private var counted: String { row.countedAt.map { catalogue.text(.experimentCounted, Figures.time($0)) } ?? "" }

    /// That no winner will be found, because a variant has too few messages; "" otherwise.
    private var doubt: String {
        // If it has no message at all, its analysis says why, and shares are not the reason.
        guard isMade, variants.contains(where: { $0.messages > 0 }), !delivery.isFinal,
            row.state == .waiting || row.state == .running,
            let least = variants.filter({ !$0.isRest }).min(by: { $0.messages < $1.messages })
        else { return "" }
        return catalogue.doubt(about: least.label, messages: least.messages, row.leastSample)
    }

    private var facts: [PageValues] {
        let decides = isCut ? nil : row.decidesAt
        let pairs: [(Phrase, String)] = [
            (.experimentMetric, catalogue[ExperimentForm.name(row.metric)]),
            (.experimentHoldOut, row.holdOutPercent > 0 ? RateNumber.shown(row.holdOutPercent) : ""),
            (.experimentDecides, decides.map(Figures.minute) ?? ""), (.experimentWinner, row.winnerLabel ?? ""),
            (row.winner == nil ? .experimentEndedAt : .experimentDecidedAt, row.decidedAt.map(Figures.minute) ?? ""),
            (.columnReason, row.decision),
        ]
        return pairs.filter { !$0.1.isEmpty }.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }

    private func variant(_ row: ExperimentVariantRow) -> PageValues {
        let interval = ShareInterval(row.successes(self.row.metric), of: row.sent)
        let isUncounted = self.row.countedAt == nil
        return [
            "label": .text(row.isRest ? catalogue[.experimentRest] : row.label),
            "percent": .text(RateNumber.shown(row.percent)), "messages": .text(Figures.count(row.messages)),
            "sent": .text(Uncounted.shown(row.sent, isUncounted)),
            "received": .text(Uncounted.shown(row.received, isUncounted)),
            "clicked": .text(Uncounted.shown(row.clicked, isUncounted)),
            "converted": .text(Uncounted.shown(row.converted, isUncounted)),
            "isWinner": .flag(row.variant == self.row.winner),
            "rate": .text(Figures.percent(min(row.successes(self.row.metric), row.sent), of: row.sent)),
            "interval": .text(
                interval.map { "\(Figures.oneDigit($0.low * 100)) – \(Figures.oneDigit($0.high * 100)) %" } ?? ""
            ),
        ]
    }
}
