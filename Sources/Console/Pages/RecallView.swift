import Store

/// What became of the messages of a recalled delivery, on its page.
struct RecallView {
    let report: RecallReport
    let catalogue: Catalogue

    var values: PageValues {
        var values: PageValues = ["recallFacts": .list(facts)]
        if let child = report.child { values["child"] = .group(["childID": .text("\(child)")]) }
        return values
    }

    private var facts: [PageValues] {
        let pairs: [(Phrase, String)] = [
            (.recalledReason, report.reason), (.recalledBy, report.recalledBy),
            (.outcomePending, Figures.count(report.pending)), (.recallUnsent, Figures.count(report.unsent)),
            (.recallReplaced, Figures.count(report.replaced)), (.recallRemoved, Figures.count(report.removed)),
            (.recallTooLate, Figures.count(report.tooLate)),
        ]
        return pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }
}
