import PushCore

/// The meaning of every gateway answer, as data.
///
/// Sources: Apple, "Handling notification responses from APNs"; Firebase, "ErrorCode" and "Best practices when sending
/// FCM messages at scale"; Adobe, "Delivery failures" (push error types) for the failure types and reasons. Where
/// sources disagree, the row loses no token and sends nothing twice, and its explanation says so. Rows without a reason
/// are for reasons that are not in the table; these are kept verbatim and classified by status.
package enum AnswerTable {
    /// The known answers of each gateway. A gateway adds its rows here.
    package static let gateways: [GatewayAnswers] = [.apnsHTTP2, .apnsBinary, .fcmV1, .fcmLegacy]

    /// All rows, grouped by gateway and ordered by status.
    package static let rows: [AnswerRow] = gateways.flatMap(\.rows)

    /// The condition of the rows for messages that may have reached the gateway.
    package static let writtenCondition = "written"
}

/// Finding the row of an answer.
extension AnswerTable {
    /// What an APNs response other than 200 means.
    ///
    /// - Parameter isSuffixed: the message's topic is not the plain bundle id, but has its push type's suffix.
    package static func apns(status: Int16, reason: String, isSuffixed: Bool = false) -> AnswerRow {
        GatewayAnswers.apnsHTTP2.response(status, reason, isSuffixed ? suffixedTopicCondition : "")
    }

    /// What an FCM HTTP v1 response other than 200 means.
    ///
    /// - Parameters:
    ///   - reason: the FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text.
    ///   - tokenAtFault: whether the error names the field `message.token`.
    package static func fcmV1(status: Int16, reason: String, tokenAtFault: Bool = false) -> AnswerRow {
        GatewayAnswers.fcmV1.response(status, reason, tokenAtFault ? tokenAtFaultCondition : "")
    }
}

extension AnswerTable {
    /// Rows for messages that ended on an HTTP/2 connection without an answer.
    ///
    /// RFC 9113 section 8.7 says when sending again is safe. A stream that was refused, or lies above a GOAWAY's last
    /// stream id, was not processed. Any other message that was written may have been.
    static func http2Unanswered(_ gateway: AnswerGateway) -> [AnswerRow] {
        [
            row(gateway, "ConnectionLost", isWritten: true, "the connection was lost before the answer came"),
            row(gateway, "Timeout", isWritten: true, "no answer came in time"),
            row(
                gateway,
                NoAnswerReason.malformed,
                isWritten: true,
                "the answer broke HTTP/2's rules, so the stream was reset here; the reason says how"
            ),
            row(
                gateway,
                "",
                isWritten: true,
                "the stream was reset by the gateway or by a proxy before the answer came"
            ),
            row(gateway, "REFUSED_STREAM", isWritten: false, "the gateway did not process the message"),
            row(
                gateway,
                "GOAWAY",
                isWritten: false,
                "the gateway closed the connection before it processed the message"
            ),
            row(
                gateway,
                NoAnswerReason.notWritten,
                isWritten: false,
                "the connection was lost before the message was written"
            ),
            row(
                gateway,
                "",
                isWritten: false,
                "the message was withdrawn before it was written, or the stream ended before any of its body was"
            ),
        ]
    }

    /// A 200 that the gateway did not give: whatever answered may have discarded the message.
    static func malformed(_ gateway: AnswerGateway, _ explanation: String) -> AnswerRow {
        AnswerRow(
            gateway,
            200,
            NoAnswerReason.malformed,
            .ambiguous,
            failure: .ignoredUnreachable,
            explanation
                + "; check that the address is the gateway's and no proxy answers for it. The message is sent again or reported as "
                + "unknown, as the delivery's ambiguity policy says"
        )
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
                    + ": it may have been accepted, and is sent again or reported as unknown, as the delivery's "
                    + "ambiguity policy says"
                : explanation + ": it is sent again"
        )
    }
}
