import PushCore
import Store

/// An approval, rejection or withdrawal that was refused.
struct RefusedDecision: Sendable {
    /// The comment, or the reason, as it was typed.
    let words: String
    let problem: String
}

/// The approval of a delivery that has not begun, on the delivery's page.
struct ApprovalView {
    let approval: DeliveryApproval
    let state: DeliveryState
    let now: DatabaseTime
    /// Who looks at the page.
    let reader: ConsoleSession?
    /// Whether the reader may take the delivery back to editing.
    let mayEdit: Bool
    /// Whether it replaces the messages of another delivery.
    let isRecall: Bool
    /// What it goes on with if it recurs.
    let recurrence: RecurrenceStanding?
    /// The run that waits for this approval.
    let heldRun: Int64?
    let refused: RefusedDecision?
    /// What is approved besides the content: plan, experiment, sending hours and frequency caps.
    let rules: [(name: String, value: String)]
    let catalogue: Catalogue

    /// The field for the comment, or the reason.
    static let wordsField = "words"
    /// The field with the version that the page shows.
    static let versionField = "version"

    /// Whether there is nothing to show.
    var isEmpty: Bool { !approval.isAwaited && approval.given == nil && !isRequested }

    /// Whether its approval is requested and the size is not counted yet.
    private var isRequested: Bool { state == .analysing && approval.requested != nil }

    private var mayApprove: Bool { approval.isAwaited && !isOwn }
    /// One that no longer holds needs no withdrawal.
    private var mayWithdraw: Bool { approval.given != nil && !approval.isAwaited }
    /// Its author takes it back instead, which needs no reason.
    private var mayReject: Bool { approval.standing != nil && !(isOwn && mayEdit) }

    /// Whether there is a form for the reader's decision.
    var mayDecide: Bool {
        state != .analysing && (reader.map { $0.role >= .marketing } ?? false)
            && (mayApprove || mayWithdraw || mayReject)
    }

    var values: PageValues {
        var values: PageValues = [
            "isAwaited": .flag(approval.isAwaited),
            "awaited": .text(catalogue[awaited]),
            "isPaused": .flag(state == .paused), "wordsLabel": .text(catalogue[wordsLabel]),
            "starts": .text(starts), "hasStarts": .flag(!starts.isEmpty),
            // Without an earlier approval it would say the same again.
            "isOutdated": .flag(approval.isAwaited && approval.given != nil), "objection": .text(approval.objection),
            "approvalFacts": .list(facts), "shownVersion": .text(approval.version),
            "mayDecide": .flag(mayDecide), "mayApprove": .flag(mayApprove),
            "mayWithdraw": .flag(mayWithdraw), "mayReject": .flag(mayReject), "typed": .text(refused?.words ?? ""),
        ]
        if let refused { values["wordsProblem"] = .group(["problem": .text(Figures.inZone(refused.problem))]) }
        return values
    }

    /// What the field for words is for, by what the reader can decide.
    private var wordsLabel: Phrase {
        guard mayReject else { return .approvalComment }
        return mayApprove || mayWithdraw ? .approvalWords : .rejectWords
    }

    /// Who has to approve it.
    private var awaited: Phrase {
        guard isOwn else { return .approvalAwaited }
        // A request gives it its start. One that recurs has none, so its approval is not requested.
        return state == .ready && recurrence == nil ? .approvalOwnUnrequested : .approvalOwnAwaited
    }

    /// Whether the reader made or changed the delivery. The database also knows other logins of the same person.
    private var isOwn: Bool { reader.map { approval.makers.contains("user \($0.user)") } ?? false }

    /// When it starts, for who approves it; empty once it is approved. Until it is counted, nobody knows whether it
    /// needs an approval.
    private var starts: String {
        guard approval.isAwaited || isRequested else { return "" }
        return isRequested ? "\(startsApproved) \(catalogue[.requestSmall])" : startsApproved
    }

    /// When it starts once it is approved.
    private var startsApproved: String {
        if let recurrence {
            let freed = heldRun.map { catalogue.text(.approvalFreesRun, "\($0)") }
            return [catalogue[.approvalOfRuns], recurrence.words(catalogue), freed].compactMap(\.self)
                .joined(separator: " ")
        }
        if approval.startsApproved { return catalogue[.approvalStartsAtOnce] }
        guard let start = approval.startsAt else { return catalogue[.approvalStartsNever] }
        guard start <= now else { return catalogue.text(.approvalStartsAt, Figures.minute(start)) }
        // Its recall has started it, at no particular time.
        if isRecall { return catalogue[.approvalStartsAtOnce] }
        let until = approval.validUntil.map { Figures.minute($0) } ?? "–"
        return catalogue.text(.approvalStartsOver, Figures.minute(start), until)
    }

    private var facts: [PageValues] {
        var pairs: [(Phrase, String)] = []
        if let above = approval.above { pairs.append((.approvalAbove, Figures.count(above))) }
        if let messages = approval.messages { pairs.append((.columnMessages, Figures.count(messages))) }
        pairs.append((.approvalMakers, approval.makers.joined(separator: ", ")))
        if let requested = approval.requested {
            pairs.append((.approvalRequestedBy, "\(requested.by), \(Figures.minute(requested.at))"))
        }
        if let given = approval.given {
            pairs.append((.approvalBy, given.by))
            pairs.append((.approvalAt, Figures.minute(given.at)))
            pairs.append((.approvalMessages, Figures.count(given.messages)))
            if let start = given.startAt { pairs.append((.factStarts, Figures.minute(start))) }
            if !given.comment.isEmpty { pairs.append((.approvalComment, given.comment)) }
        }
        if let ended = approval.ended {
            pairs.append((.approvalEnded, "\(Figures.minute(ended.at)): \(ended.because)"))
        }
        let named = pairs.map { pair -> (name: String, value: String) in (catalogue[pair.0], pair.1) }
        return (named + rules).map { ["name": .text($0.name), "value": .text($0.value)] }
    }
}
