import PushCore
import Store

/// The approval of a delivery that has not begun, on the delivery's page.
struct ApprovalView {
    let approval: DeliveryApproval
    let state: DeliveryState
    let now: DatabaseTime
    /// Who looks at the page.
    let reader: ConsoleSession?
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

    var values: PageValues {
        let mayDecide = state != .analysing && (reader.map { $0.role >= .marketing } ?? false)
        return [
            "isAwaited": .flag(approval.isAwaited),
            "awaited": .text(catalogue[isOwn ? .approvalOwnAwaited : .approvalAwaited]),
            "starts": .text(starts), "hasStarts": .flag(!starts.isEmpty),
            // Without an earlier approval it would say the same again.
            "isOutdated": .flag(approval.isAwaited && approval.given != nil), "objection": .text(approval.objection),
            "approvalFacts": .list(facts), "shownVersion": .text(approval.version),
            "mayDecide": .flag(mayDecide), "mayApprove": .flag(approval.isAwaited && !isOwn),
            "mayWithdraw": .flag(approval.given != nil), "mayReject": .flag(approval.standing != nil),
        ]
    }

    /// Whether the reader made or changed the delivery. The database also knows other logins of the same person.
    private var isOwn: Bool { reader.map { approval.makers.contains("user \($0.user)") } ?? false }

    /// When it starts, for who approves it; empty once it is approved.
    private var starts: String {
        guard approval.isAwaited || isRequested else { return "" }
        if approval.startsApproved { return catalogue[.approvalStartsAtOnce] }
        guard let start = approval.startsAt else { return catalogue[.approvalStartsNever] }
        guard start <= now else { return catalogue.text(.approvalStartsAt, Figures.minute(start)) }
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
        let named = pairs.map { pair -> (name: String, value: String) in (catalogue[pair.0], pair.1) }
        return (named + rules).map { ["name": .text($0.name), "value": .text($0.value)] }
    }
}
