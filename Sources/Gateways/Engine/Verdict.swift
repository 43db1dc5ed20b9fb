import PushCore

/// What a gateway's answer other than 200 means, and what has to be done about it.
struct Verdict {
    var outcome: Outcome
    var row: AnswerRow
    /// The gateway's text for people; empty when it gave none.
    var text = ""
    /// Requests that still wait carry a token that is no longer taken and have to be made anew.
    var makesWaitingAnew = false
}
