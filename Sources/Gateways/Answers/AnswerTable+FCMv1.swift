import PushCore

extension AnswerTable {
    /// All rows of FCM HTTP v1.
    static let fcmV1Rows: [AnswerRow] =
        fcmV1Responses + fcmV1OtherResponses + fcmV1Unspecified + fcmV1GoAways + fcmV1Unanswered + fcmV1TokenEndpoint

    /// The condition of the rows for errors that name the field `message.token`.
    static let tokenAtFaultCondition = "message.token"

    /// Firebase: "If no retry-after header is set, default to 60 seconds."
    static let quotaDelay: Int32 = 60_000
    /// Firebase: "Wait at least 10 seconds before retrying a failed request."
    static let failureDelay: Int32 = 10_000

    /// Every error code that Firebase documents, and the errors without one that its servers give.
    static let fcmV1Responses: [AnswerRow] = [fcmV1Accepted] + fcmV1Messages + fcmV1Senders + fcmV1Server

    private static let fcmV1Accepted = AnswerRow(
        .fcmV1,
        200,
        "",
        .accepted,
        "FCM took the message; its name is kept as the gateway's message id"
    )

    private static let fcmV1Messages: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            400,
            "INVALID_ARGUMENT",
            .permanent,
            condition: tokenAtFaultCondition,
            token: .invalid,
            failure: .hardUserUnknown,
            "the push token is no FCM registration token (Adobe: ignored, undefined); when many are refused, no token is touched"
        ),
        AnswerRow(
            .fcmV1,
            400,
            "INVALID_ARGUMENT",
            .permanent,
            failure: .ignoredUndefined,
            "FCM refuses a part of the message: the reason in the log names the field; correct the delivery's content"
        ),
        AnswerRow(
            .fcmV1,
            404,
            "UNREGISTERED",
            .permanent,
            token: .invalid,
            failure: .hardUserUnknown,
            "the app was removed from the device or the push token has expired"
        ),
        // The wrong service account makes all tokens look so: the token is kept.
        AnswerRow(
            .fcmV1,
            403,
            "SENDER_ID_MISMATCH",
            .permanent,
            token: .softError,
            doubtful: true,
            failure: .softUserUnknown,
            "the push token belongs to another Firebase project: it is kept and counted, as Adobe does (Firebase: remove it); when many "
                + "are refused, check the service account"
        ),
        AnswerRow(
            .fcmV1,
            429,
            "QUOTA_EXCEEDED",
            .retry,
            fault: .message,
            delay: quotaDelay,
            failure: .softRefused,
            "the quota of this device or topic is used up for the moment, or the project's if it comes for message after message, which is "
                + "the gateway's trouble then; the token is not counted"
        ),
    ]

    private static let fcmV1Server: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            500,
            "INTERNAL",
            .retry,
            delay: failureDelay,
            failure: .ignoredRefused,
            "FCM has an internal error"
        ),
        AnswerRow(
            .fcmV1,
            503,
            "UNAVAILABLE",
            .retry,
            delay: failureDelay,
            failure: .ignoredRefused,
            "FCM is unavailable for the moment"
        ),
    ]

    /// Error codes that are not documented, and answers without a readable body.
    static let fcmV1OtherResponses: [AnswerRow] = [
        malformed(.fcmV1, "a 200 without a message name in JSON: FCM did not give it"),
        AnswerRow(
            .fcmV1,
            0,
            "",
            .retry,
            fault: .foreign,
            failure: .ignoredRefused,
            foreignExplanation
        ),
        AnswerRow(
            .fcmV1,
            300,
            "",
            .stopApplication,
            application: .stop,
            failure: .ignoredRefused,
            "a redirection, which FCM never gives: check that the address is the gateway's and no proxy answers for it"
        ),
        AnswerRow(
            .fcmV1,
            400,
            "",
            .retry,
            fault: .unknown,
            failure: .ignoredRefused,
            unknownExplanation
        ),
        AnswerRow(
            .fcmV1,
            401,
            "",
            .unprocessed,
            application: .renewToken,
            failure: .ignoredRefused,
            "the access token is not taken: it is fetched anew; refused again, the application is stopped: check the service account"
        ),
        // Who sends is wrong. Keeping messages back can be undone, failing all of them cannot.
        AnswerRow(
            .fcmV1,
            403,
            "",
            .stopApplication,
            application: .stop,
            failure: .ignoredRefused,
            "the sender is not allowed, for an unknown reason: check service account and project"
        ),
        // Without an FCM error code it may be the project or the address that is not found.
        AnswerRow(
            .fcmV1,
            404,
            "",
            .permanent,
            doubtful: true,
            failure: .ignoredRefused,
            "nothing was found, without FCM's error code: when many are refused, check project id and address"
        ),
        AnswerRow(
            .fcmV1,
            405,
            "",
            .stopApplication,
            application: .stop,
            failure: .ignoredRefused,
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
        AnswerRow(
            .fcmV1,
            408,
            "",
            .retry,
            delay: failureDelay,
            failure: .ignoredRefused,
            "the request timed out at the gateway"
        ),
        AnswerRow(.fcmV1, 429, "", .retry, delay: quotaDelay, failure: .ignoredRefused, "too many requests"),
        AnswerRow(
            .fcmV1,
            500,
            "",
            .retry,
            delay: failureDelay,
            failure: .ignoredRefused,
            "an error of the gateway, which may pass (Adobe: not tried again)"
        ),
    ]
}
