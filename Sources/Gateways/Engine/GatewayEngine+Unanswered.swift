import HTTP2
import PushCore

/// Outcomes of messages about which the gateway has said nothing.
extension GatewayEngine {
    func unanswered(_ row: Int32, _ outcomeClass: OutcomeClass, _ cause: HTTP2Failure.Cause) -> Outcome {
        let isWritten = outcomeClass == .ambiguous
        let reason = NoAnswerReason.text(cause, isWritten: isWritten)
        let meaning = AnswerTable.noAnswer(dialect.answers, reason: reason, isWritten: isWritten)
        return Outcome(
            index: row,
            outcomeClass: outcomeClass,
            reason: reason,
            failure: meaning.failure,
            neverLeft: cause == .cancelled
        )
    }

    /// A 200 that is not the gateway's: a proxy or a page in its place has taken the message, or has thrown it away.
    func malformed(_ row: Int32) -> Outcome {
        let meaning = AnswerTable.malformed(dialect.answers)
        return Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: 200,
            reason: NoAnswerReason.malformed,
            failure: meaning.failure
        )
    }
}
