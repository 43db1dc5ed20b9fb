import PushCore

/// The meaning of every gateway answer, as data.
///
/// Sources: Apple, "Handling notification responses from APNs"; Firebase, "ErrorCode" and "Best practices when sending
/// FCM messages at scale"; Adobe, "Delivery failures" (push error types) for the failure types and reasons. Where
/// sources disagree, the row loses no token and sends nothing twice, and its explanation says so. Rows without a reason
/// are for reasons that are not in the table; these are kept verbatim and classified by status.
package enum AnswerTable {
    /// The known answers of each gateway. A gateway adds its rows here.
    package static let gateways = [
        GatewayAnswers(.apnsHTTP2, apnsRows), GatewayAnswers(.apnsBinary, apnsBinaryRows),
        GatewayAnswers(.fcmV1, fcmV1Rows), GatewayAnswers(.fcmLegacy, fcmLegacyRows),
    ]

    /// All rows, grouped by gateway and ordered by status.
    package static let rows: [AnswerRow] = gateways.flatMap(\.rows)

    private static let index = Dictionary(gateways.map { ($0.gateway, $0) }, uniquingKeysWith: { first, _ in first })

    /// The rows of a gateway.
    package static func of(_ gateway: AnswerGateway) -> GatewayAnswers {
        index[gateway] ?? GatewayAnswers(gateway, [])
    }

    /// The row of exactly this answer.
    static func row(
        _ gateway: AnswerGateway,
        _ source: AnswerRow.Source,
        _ status: Int16,
        _ reason: String,
        _ condition: String = ""
    ) -> AnswerRow? {
        of(gateway).row(source, status, reason, condition)
    }

    static func other(_ gateway: AnswerGateway, _ status: Int16, isGatewaysForm: Bool) -> AnswerRow {
        of(gateway).other(status, isGatewaysForm: isGatewaysForm)
    }

    static func foreign(_ gateway: AnswerGateway) -> AnswerRow { of(gateway).foreign }

    /// The condition of the rows for messages that may have reached the gateway.
    package static let writtenCondition = "written"
}

/// Finding the row of an answer.
extension AnswerTable {
    /// What an APNs response other than 200 means.
    ///
    /// - Parameter isSuffixed: the message's topic is not the plain bundle id, but has its push type's suffix.
    package static func apns(status: Int16, reason: String, isSuffixed: Bool = false) -> AnswerRow {
        if isSuffixed, let row = row(.apnsHTTP2, .response, status, reason, suffixedTopicCondition) { return row }
        return reason.isEmpty
            ? other(.apnsHTTP2, status, isGatewaysForm: false)
            : row(.apnsHTTP2, .response, status, reason) ?? other(.apnsHTTP2, status, isGatewaysForm: true)
    }

    /// What a GOAWAY of APNs means; the reason is that of its JSON debug data, or the debug data itself.
    package static func apnsGoAway(reason: String) -> AnswerRow {
        row(.apnsHTTP2, .goAway, 0, reason) ?? row(.apnsHTTP2, .goAway, 0, "") ?? foreign(.apnsHTTP2)
    }

    /// What an FCM HTTP v1 response other than 200 means.
    ///
    /// - Parameters:
    ///   - reason: the FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text.
    ///   - tokenAtFault: whether the error names the field `message.token`.
    package static func fcmV1(status: Int16, reason: String, tokenAtFault: Bool = false) -> AnswerRow {
        if tokenAtFault, let row = row(.fcmV1, .response, status, reason, tokenAtFaultCondition) { return row }
        return reason.isEmpty
            ? other(.fcmV1, status, isGatewaysForm: false)
            : row(.fcmV1, .response, status, reason) ?? other(.fcmV1, status, isGatewaysForm: true)
    }

    /// What a GOAWAY of FCM means; the reason is its debug data.
    package static func fcmV1GoAway(reason: String) -> AnswerRow {
        row(.fcmV1, .goAway, 0, reason) ?? row(.fcmV1, .goAway, 0, "") ?? foreign(.fcmV1)
    }

    /// The meaning of a message that ended without an answer.
    package static func noAnswer(_ gateway: AnswerGateway, reason: String, isWritten: Bool) -> AnswerRow {
        of(gateway).noAnswer(reason: reason, isWritten: isWritten)
    }

    /// The meaning of a message that cannot be sent at all.
    package static func check(_ gateway: AnswerGateway, reason: String) -> AnswerRow {
        of(gateway).check(reason: reason)
    }

    /// The meaning of an endpoint for access tokens that issued none.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; 0 for no answer.
    ///   - error: its OAuth 2 error, empty if it gave none.
    package static func tokenEndpoint(_ gateway: AnswerGateway, status: Int, error: String) -> AnswerRow {
        if let row = row(gateway, .tokenEndpoint, 0, error), !error.isEmpty { return row }
        let status = Int16(clamping: status)
        return row(gateway, .tokenEndpoint, status, "") ?? row(gateway, .tokenEndpoint, status / 100 * 100, "")
            ?? row(gateway, .tokenEndpoint, 0, "") ?? foreign(gateway)
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

    /// The meaning of an answer with status 200 that the gateway did not give.
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
                    + ": it may have been accepted, and is sent again or reported as unknown, as the delivery's "
                    + "ambiguity policy says"
                : explanation + ": it is sent again"
        )
    }
}
