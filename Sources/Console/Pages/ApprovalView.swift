import Store

/// The approval of a delivery that has not begun, on the delivery's page.
struct ApprovalView {
    let approval: DeliveryApproval
    /// Who looks at the page.
    let reader: ConsoleSession?
    let catalogue: Catalogue

    /// The field for the comment, or the reason.
    static let wordsField = "words"
    /// The field with the version that the page shows.
    static let versionField = "version"

    /// Whether there is nothing to show.
    var isEmpty: Bool { !approval.isAwaited && approval.given == nil }

    var values: PageValues {
        let mayDecide = reader.map { $0.role >= .marketing } ?? false
        return [
            "isAwaited": .flag(approval.isAwaited),
            // Without an earlier approval it would say the same again.
            "isOutdated": .flag(approval.isAwaited && approval.given != nil), "objection": .text(approval.objection),
            "approvalFacts": .list(facts), "shownVersion": .text(approval.version),
            "mayDecide": .flag(mayDecide), "mayApprove": .flag(approval.isAwaited && !isOwn),
            "mayWithdraw": .flag(approval.given != nil), "mayReject": .flag(approval.standing != nil),
        ]
    }

    /// Whether the reader made or changed the delivery. The database also knows other logins of the same person.
    private var isOwn: Bool { reader.map { approval.makers.contains("user \($0.user)") } ?? false }

    private var facts: [PageValues] {
        var pairs: [(Phrase, String)] = []
        if let above = approval.above { pairs.append((.approvalAbove, Figures.count(above))) }
        if let messages = approval.messages { pairs.append((.columnMessages, Figures.count(messages))) }
        pairs.append((.approvalMakers, approval.makers.joined(separator: ", ")))
        if let given = approval.given {
            pairs.append((.approvalBy, given.by))
            pairs.append((.approvalAt, Figures.minute(given.at)))
            pairs.append((.approvalMessages, Figures.count(given.messages)))
            if let start = given.startAt { pairs.append((.factStarts, Figures.minute(start))) }
            if !given.comment.isEmpty { pairs.append((.approvalComment, given.comment)) }
        }
        return pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }
}
