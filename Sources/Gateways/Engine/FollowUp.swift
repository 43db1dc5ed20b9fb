/// What has to be done after the outcomes of one read were handed over.
struct FollowUp {
    var hasAccepted = false
    var replacesConnections = false
    var makesWaitingAnew = false
    /// One verdict for each reason that concerns the application.
    private(set) var verdicts: [Verdict] = []

    mutating func note(_ verdict: Verdict) {
        if verdict.row.connection == .replace { replacesConnections = true }
        if verdict.makesWaitingAnew { makesWaitingAnew = true }
        guard verdict.row.application == .stop || verdict.row.application == .pause else { return }
        if verdicts.contains(where: { $0.row == verdict.row }) { return }
        verdicts.append(verdict)
    }
}
