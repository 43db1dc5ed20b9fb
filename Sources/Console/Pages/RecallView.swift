import PushCore
import Store

/// What became of the messages of a recalled delivery, on its page.
struct RecallView {
    let facts: RecallFacts
    let catalogue: Catalogue

    var values: PageValues {
        var values: PageValues = ["recallFacts": .list(pairs)]
        if let child = facts.child {
            let words = DeliveryWords(row: child.progress, catalogue: catalogue, standing: child.approval.standing)
            values["child"] = .group([
                "childID": .text("\(child.progress.id)"), "childState": .text(words.state.words),
                "childClass": .text(words.state.style),
                "childReason": .text(
                    facts.report.givenUpBy.isEmpty
                        ? Figures.inZone(child.progress.stateReason)
                        : catalogue.text(.recallStoppedBy, facts.report.givenUpBy)
                ),
            ])
        }
        return values
    }

    private var pairs: [PageValues] {
        let report = facts.report
        // What it has not reached at its end, it never will.
        let isOver = report.childState?.isFinal == true
        var pairs: [(Phrase, String)] = [
            (.recalledReason, report.reason), (.recalledBy, report.recalledBy),
            (.columnPending, Figures.count(report.pending)), (.recallUnsent, Figures.count(report.unsent)),
        ]
        switch report.mode {
        case .stop: break
        case .replace:
            pairs.append((.recallReplaced, Figures.count(report.replaced)))
            pairs.append((isOver ? .recallNeverReplaced : .recallNotReplaced, Figures.count(report.unreached)))
        case .remove:
            pairs.append((.recallRemoved, Figures.count(report.removed)))
            pairs.append((isOver ? .recallNeverRemoved : .recallNotRemoved, Figures.count(report.unreached)))
        }
        pairs.append((report.mode == .remove ? .recallUnconfirmed : .recallTooLate, Figures.count(report.tooLate)))
        return pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }
}
