import Gateways
import PushCore

/// Turns the fates of messages into outcomes, by the answer table.
enum BinaryJudge {
    /// The outcome of a message, and the action for its application, if any.
    static func outcome(_ resolved: BinaryResolved<BinaryMessage>) -> (outcome: Outcome, decision: Decision?) {
        let row = resolved.message.row
        switch resolved.fate {
        case .taken:
            return (Outcome(index: row, outcomeClass: .accepted), nil)
        case .presumedTaken:
            return (Outcome(index: row, outcomeClass: .accepted, reason: AnswerTable.silence), nil)
        case .discarded(let isFree):
            let meaning = GatewayAnswers.apnsBinary.noAnswer(reason: NoAnswerReason.discarded, isWritten: false)
            let outcome = Outcome(
                index: row,
                outcomeClass: meaning.outcomeClass,
                reason: NoAnswerReason.discarded,
                failure: meaning.failure,
                isCollateral: isFree
            )
            return (outcome, nil)
        case .ambiguous(let ambiguity):
            let meaning = GatewayAnswers.apnsBinary.noAnswer(reason: ambiguity.rawValue, isWritten: true)
            let outcome = Outcome(
                index: row,
                outcomeClass: meaning.outcomeClass,
                reason: ambiguity.rawValue,
                failure: meaning.failure,
                // As with its event: the end of a connection does not count against the gateway.
                fault: ambiguity == .connectionLost ? AnswerFault.none : nil
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
                fault: meaning.answerFault,
                // Whatever its number, which may be 0.
                isAnswer: true
            )
            return (outcome, Decision(outcome: outcome, row: meaning))
        }
    }
}

/// Refuses what the protocol cannot carry. The gateway would discard all later messages along with it.
struct BinaryAdmission {
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The outcome of a message that must not be sent; nil if it may be.
    func refusal(_ row: Int32, _ type: PushType, token: ArraySlice<UInt8>, payload: Int) -> Outcome? {
        switch type {
        case .alert, .background: break
        default: return refusal(row, Self.pushTypeReason(type))
        }
        if payload == 0 { return refusal(row, "PayloadEmpty") }
        if payload > limit { return refusal(row, PayloadLimits.tooLongReason(limit: limit)) }
        guard BinaryToken.isValid(token) else { return refusal(row, Self.tokenReason) }
        return nil
    }

    private static let tokenReason = """
        InvalidTokenSize: the push token is not an even number of hexadecimal digits, at least 2 and at most \
        \(BinaryToken.maxBytes * 2)
        """

    private static func pushTypeReason(_ type: PushType) -> String {
        """
        InvalidPushType: the binary protocol carries alert and background pushes, not \(type.rawValue); \
        send the delivery through an ios-http2 account
        """
    }

    private func refusal(_ row: Int32, _ reason: String) -> Outcome {
        let meaning = GatewayAnswers.apnsBinary.check(reason: reason)
        return Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            reason: reason,
            tokenEffect: meaning.tokenEffect(timestamp: nil),
            isTokenDoubtful: meaning.isDoubtful,
            failure: meaning.failure,
            neverLeft: true
        )
    }
}
