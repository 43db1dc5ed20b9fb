import PushCore

extension AnswerTable {
    /// What ends a message on an HTTP/2 connection without an answer.
    ///
    /// Whether it may be sent again without a doubt is RFC 9113 section 8.7: a stream that was refused, or lies above a GOAWAY's
    /// last stream id, was not processed; all else that was written may have been.
    static func http2Unanswered(_ gateway: AnswerGateway) -> [AnswerRow] {
        [
            row(gateway, "ConnectionLost", isWritten: true, "the connection was lost before the answer came"),
            row(gateway, "Timeout", isWritten: true, "no answer came in time"),
            row(
                gateway,
                "",
                isWritten: true,
                "the stream was reset by the gateway or by a proxy before the answer came"
            ),
            row(gateway, "REFUSED_STREAM", isWritten: false, "the gateway did not look at the message"),
            row(
                gateway,
                "GOAWAY",
                isWritten: false,
                "the gateway closed the connection before it looked at the message"
            ),
            row(
                gateway,
                NoAnswerReason.notWritten,
                isWritten: false,
                "the connection was lost before the message was written"
            ),
            row(gateway, "", isWritten: false, "the message was taken back before it was written"),
        ]
    }

    /// A 200 that the gateway has not given: something in its place may have thrown the message away.
    static func malformed(_ gateway: AnswerGateway, _ explanation: String) -> AnswerRow {
        AnswerRow(
            gateway,
            200,
            NoAnswerReason.malformed,
            .ambiguous,
            failure: .ignoredUnreachable,
            explanation
                + "; check that the address is the gateway's and no proxy answers for it. The message is sent again or reported as "
                + "unknown, as the delivery says"
        )
    }

    /// The meaning of an answer with status 200 that the gateway has not given.
    static func malformed(_ gateway: AnswerGateway) -> AnswerRow {
        row(gateway, .response, 200, NoAnswerReason.malformed) ?? foreign(gateway)
    }

    private static func row(
        _ gateway: AnswerGateway,
        _ reason: String,
        isWritten: Bool,
        _ explanation: String
    ) -> AnswerRow {
        AnswerRow(
            gateway,
            0,
            reason,
            isWritten ? .ambiguous : .unprocessed,
            source: .noAnswer,
            condition: isWritten ? writtenCondition : "",
            failure: .ignoredUnreachable,
            isWritten
                ? explanation
                    + ": it may have been taken, and is sent again or reported as unknown, as the delivery says"
                : explanation + ": it is sent again"
        )
    }
}
