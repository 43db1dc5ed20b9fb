import Gateways
import PushCore

extension AnswerGateway {
    /// The line of ``LineGateway``.
    static let line = AnswerGateway(rawValue: "line")
}

/// The answer rows of ``LineGateway``: the meaning of each word.
enum LineAnswers {
    static let all = GatewayAnswers(.line, rows)

    private static let rows = [
        AnswerRow(.line, 200, "", .accepted, "the line took the message"),
        AnswerRow(
            .line,
            410,
            "Gone",
            .permanent,
            token: .invalid,
            doubtful: false,
            failure: .hardUserUnknown,
            "nobody is there any more"
        ),
        AnswerRow(.line, 413, "TooLong", .permanent, failure: .softRefused, "the message is too long: shorten it"),
        AnswerRow(.line, 0, "", .retry, fault: .unknown, failure: .softUndefined, "a word that the line does not have"),
        AnswerRow(
            .line,
            0,
            AnswerTable.connectionLost,
            .ambiguous,
            source: .noAnswer,
            condition: AnswerTable.writtenCondition,
            failure: .softUnreachable,
            "the line broke before the answer came"
        ),
        AnswerRow(
            .line,
            0,
            "",
            .unprocessed,
            source: .noAnswer,
            failure: .softUnreachable,
            "the message was not written"
        ),
        AnswerRow(.line, 0, "", .permanent, source: .check, failure: .ignoredUndefined, "the line cannot carry it"),
    ]

    /// What an answer means for a message.
    static func outcome(_ row: Int32, _ status: Int16, _ reason: String) -> Outcome {
        let meaning = all.row(.response, status, reason) ?? all.other(status, isGatewaysForm: true)
        return Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: status,
            reason: reason,
            tokenEffect: meaning.tokenEffect(timestamp: nil),
            isTokenDoubtful: meaning.isDoubtful,
            failure: meaning.failure,
            fault: meaning.answerFault
        )
    }

    /// The meaning of a missing answer for a message.
    static func unanswered(_ row: Int32, isWritten: Bool) -> Outcome {
        let reason = isWritten ? AnswerTable.connectionLost : NoAnswerReason.cancelled
        let meaning = all.noAnswer(reason: reason, isWritten: isWritten)
        return Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            reason: reason,
            failure: meaning.failure,
            neverLeft: !isWritten
        )
    }
}
