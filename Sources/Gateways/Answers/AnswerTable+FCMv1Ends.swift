import PushCore

extension AnswerTable {
    /// Debug data of GOAWAY that FCM's front ends have been seen to send.
    static let fcmV1GoAways: [AnswerRow] = [
        goAway("session_timed_out", "the connection was idle for some minutes"),
        goAway("too_many_pings", "FCM does not want so many PING frames"),
        goAway("exceeded_max_concurrent_streams", "more than the allowed concurrent streams were open"),
        goAway("", "FCM ended the connection for an unknown reason"),
    ]

    private static func goAway(_ reason: String, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .fcmV1,
            0,
            reason,
            .unprocessed,
            source: .goAway,
            connection: .replace,
            failure: .ignoredUnreachable,
            explanation
        )
    }

    /// Messages without an answer, and messages that are not fit to be sent.
    static let fcmV1Unanswered: [AnswerRow] =
        http2Unanswered(.fcmV1) + [
            AnswerRow(
                .fcmV1,
                0,
                "PayloadTooLarge",
                .permanent,
                source: .check,
                failure: .softRefused,
                "the payload is larger than 4,096 bytes with this subscription's values: shorten the content"
            ),
            AnswerRow(
                .fcmV1,
                0,
                "FieldsUnreadable",
                .permanent,
                source: .check,
                failure: .ignoredUndefined,
                "the target mapping's view cannot be read for this person, as the reason says: put the person's row there right, or the view"
            ),
            AnswerRow(
                .fcmV1,
                0,
                "",
                .permanent,
                source: .check,
                failure: .ignoredUndefined,
                "the message cannot be made of the content and this subscription's values: correct the delivery's content"
            ),
        ]
}
