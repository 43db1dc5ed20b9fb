import PushCore

/// Turns fates of messages into their outcomes, by the answer table.
enum BinaryJudge {
    /// The outcome of a message, and what has to be done about the application, if anything.
    static func outcome(_ settled: BinarySettled<BinaryMessage>) -> (outcome: Outcome, verdict: Verdict?) {
        let row = settled.message.row
        switch settled.fate {
        case .taken:
            return (Outcome(index: row, outcomeClass: .accepted), nil)
        case .presumedTaken:
            return (Outcome(index: row, outcomeClass: .accepted, reason: AnswerTable.silence), nil)
        case .discarded(let isFree):
            let meaning = AnswerTable.noAnswer(.apnsBinary, reason: NoAnswerReason.discarded, isWritten: false)
            let outcome = Outcome(
                index: row,
                outcomeClass: meaning.outcomeClass,
                reason: NoAnswerReason.discarded,
                failure: meaning.failure,
                isCollateral: isFree
            )
            return (outcome, nil)
        case .inDoubt(let doubt):
            let meaning = AnswerTable.noAnswer(.apnsBinary, reason: doubt.rawValue, isWritten: true)
            let outcome = Outcome(
                index: row,
                outcomeClass: meaning.outcomeClass,
                reason: doubt.rawValue,
                failure: meaning.failure
            )
            return (outcome, nil)
        case .refused(let status):
            let meaning = AnswerTable.apnsBinary(status: Int16(status))
            let outcome = Outcome(
                index: row,
                outcomeClass: meaning.outcomeClass,
                status: Int16(status),
                reason: meaning.reason.isEmpty ? "Status \(status)" : meaning.reason,
                tokenEffect: meaning.tokenEffect(timestamp: nil),
                retryAfterMilliseconds: meaning.outcomeClass == .retry ? meaning.delayMilliseconds : nil,
                applicationWide: meaning.application == .stop || meaning.application == .pause,
                isTokenDoubtful: meaning.isDoubtful,
                failure: meaning.failure,
                fault: meaning.answerFault
            )
            return (outcome, Verdict(outcome: outcome, row: meaning))
        }
    }
}
