import PushCore
import Store

/// Whom a delivery goes to, who made it, and how it is sent, on its page.
struct DeliveryAboutView {
    let progress: DeliveryProgress
    let subject: DeliverySubject
    /// The parsed filter; nil if it has none, or it cannot be read.
    let filter: TargetFilter?
    /// Nil for deliveries that need none, such as days of a continuous one.
    let approval: DeliveryApproval?
    /// Nil for a continuous delivery, whose number grows.
    let number: TargetNumber?
    /// The delivery whose messages it replaces or removes.
    let recalled: Int64?
    let catalogue: Catalogue

    var values: PageValues {
        let pairs = target + people + sending
        return ["aboutFacts": .list(pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] })]
    }

    private var target: [(Phrase, String)] {
        let targeting = subject.targeting
        var pairs: [(Phrase, String)] = []
        if let number { pairs.append((.columnTarget, number.words(catalogue))) }
        pairs.append((.aboutWhom, whom))
        // Words may lose what a text says, such as the kind of a value.
        if let text = targeting.filter { pairs.append((.filterField, text)) }
        if targeting.hasRawSQL { pairs.append((.aboutCondition, catalogue[.choiceYes])) }
        if !targeting.excludedLists.isEmpty {
            pairs.append((.aboutLists, targeting.excludedLists.joined(separator: ", ")))
        }
        switch targeting.seeds {
        case nil: pairs.append((.aboutSeeds, catalogue[.settingSeedsAll]))
        case let names? where !names.isEmpty: pairs.append((.aboutSeeds, names.joined(separator: ", ")))
        default: break
        }
        if subject.isOnePerUser { pairs.append((.settingPerson, catalogue[.settingPersonOne])) }
        return pairs
    }

    /// The people of the target, in words.
    private var whom: String {
        if let recalled { return catalogue.text(.aboutRecalled, "\(recalled)") }
        if subject.isProof { return catalogue[.aboutProof] }
        if subject.targeting.isExplicit { return catalogue[.aboutNamed] }
        guard subject.targeting.filter != nil else { return catalogue[.everybody] }
        guard let filter, let rows = FilterRows(filter) else { return catalogue[.aboutFilter] }
        let tests = rows.rows.map { row in
            [row.field, catalogue.comparison(row.comparison), row.value].filter { !$0.isEmpty }.joined(separator: " ")
        }
        let join: Phrase = rows.join == .all ? .aboutAnd : .aboutOr
        return tests.joined(separator: " \(catalogue[join]) ")
    }

    private var people: [(Phrase, String)] {
        let makers = approval?.makers ?? []
        let made = makers.isEmpty ? catalogue.text(.aboutLogin, subject.createdBy) : makers.joined(separator: ", ")
        var pairs: [(Phrase, String)] = [(.approvalMakers, made)]
        if !subject.startedBy.isEmpty {
            let name: Phrase =
                switch (progress.startAt, progress.startedAt) {
                case (_?, _?): .aboutStartedBy
                case (_?, nil): .aboutScheduledBy
                case (nil, _): .aboutAnalysedBy
                }
            // As makers and approvers are named.
            pairs.append((name, "user \(subject.startedBy)"))
        }
        if let given = approval?.given { pairs.append((.approvalBy, given.by)) }
        return pairs
    }

    private var sending: [(Phrase, String)] {
        let end =
            subject.validUntil.map { Figures.minute($0) }
            ?? catalogue.text(.aboutAfterStart, Figures.duration(subject.validitySeconds))
        return [(.settingPriority, "\(subject.priority)"), (.aboutValid, end)]
    }
}
