import PushCore

extension AnswerTable {
    /// The condition of the rows for errors that name the field `message.token`.
    static let tokenAtFaultCondition = "message.token"

    /// Firebase: "If no retry-after header is set, default to 60 seconds."
    private static let quotaDelay: Int32 = 60_000
    /// Firebase: "Wait at least 10 seconds before retrying a failed request."
    private static let failureDelay: Int32 = 10_000

    /// Every error code that Firebase documents, and the errors without one that its servers give.
    static let fcmV1Responses: [AnswerRow] = fcmV1Messages + fcmV1Senders + fcmV1Server

    private static let fcmV1Messages: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            400,
            "INVALID_ARGUMENT",
            .permanent,
            condition: tokenAtFaultCondition,
            token: .invalid,
            "the push token is no FCM registration token"
        ),
        AnswerRow(
            .fcmV1,
            400,
            "INVALID_ARGUMENT",
            .permanent,
            "FCM refuses a part of the message: the reason in the log names the field; correct the delivery's content"
        ),
        AnswerRow(
            .fcmV1,
            404,
            "UNREGISTERED",
            .permanent,
            token: .invalid,
            "the app was removed from the device or the push token has expired"
        ),
        // The wrong service account makes all tokens look so: the token is kept.
        AnswerRow(
            .fcmV1,
            403,
            "SENDER_ID_MISMATCH",
            .permanent,
            doubtful: true,
            "the push token belongs to another Firebase project; when many are refused, check the service account"
        ),
        AnswerRow(
            .fcmV1,
            429,
            "QUOTA_EXCEEDED",
            .retry,
            delay: quotaDelay,
            "the quota of this device, topic or project is used up for the moment"
        ),
    ]

    private static let fcmV1Senders: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            401,
            "THIRD_PARTY_AUTH_ERROR",
            .retry,
            delay: quotaDelay,
            "the APNs or web push credential stored in the Firebase project is wrong: correct it in the Firebase console"
        ),
        AnswerRow(
            .fcmV1,
            401,
            "APNS_AUTH_ERROR",
            .retry,
            delay: quotaDelay,
            "the APNs credential stored in the Firebase project is wrong: correct it in the Firebase console"
        ),
        AnswerRow(
            .fcmV1,
            401,
            "UNAUTHENTICATED",
            .unprocessed,
            application: .renewToken,
            "the access token is not taken: it is fetched anew; refused again, the application is stopped: check the service account"
        ),
        AnswerRow(
            .fcmV1,
            403,
            "PERMISSION_DENIED",
            .stopApplication,
            application: .stop,
            "the service account may not send for this project: give it the role Firebase Cloud Messaging API Admin, enable the API, check the project id"
        ),
        AnswerRow(
            .fcmV1,
            403,
            "SERVICE_DISABLED",
            .stopApplication,
            application: .stop,
            "the Firebase Cloud Messaging API is not enabled for the project: enable it in the Google Cloud console"
        ),
        AnswerRow(
            .fcmV1,
            429,
            "RATE_LIMIT_EXCEEDED",
            .retry,
            application: .pause,
            delay: quotaDelay,
            "the project's quota of messages per minute is used up: the whole project pauses; ask Google for more if it repeats"
        ),
        AnswerRow(
            .fcmV1,
            429,
            "RESOURCE_EXHAUSTED",
            .retry,
            application: .pause,
            delay: quotaDelay,
            "the project's quota is used up: the whole project pauses; ask Google for more if it repeats"
        ),
    ]

    private static let fcmV1Server: [AnswerRow] = [
        AnswerRow(.fcmV1, 500, "INTERNAL", .retry, delay: failureDelay, "FCM has an internal error"),
        AnswerRow(.fcmV1, 503, "UNAVAILABLE", .retry, delay: failureDelay, "FCM is unavailable for the moment"),
    ]

    /// Error codes that are not documented, `UNSPECIFIED_ERROR`, and answers without a readable body.
    static let fcmV1OtherResponses: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            300,
            "",
            .stopApplication,
            application: .stop,
            "a redirection, which FCM never gives: check that the address is the gateway's and no proxy answers for it"
        ),
        AnswerRow(.fcmV1, 400, "", .permanent, "an unknown reason to refuse the message"),
        AnswerRow(
            .fcmV1,
            401,
            "",
            .unprocessed,
            application: .renewToken,
            "the access token is not taken: it is fetched anew; refused again, the application is stopped: check the service account"
        ),
        // Who sends is wrong. Keeping messages back can be undone, failing all of them cannot.
        AnswerRow(
            .fcmV1,
            403,
            "",
            .stopApplication,
            application: .stop,
            "the sender is not allowed, for an unknown reason: check service account and project"
        ),
        // Without an FCM error code it may be the project or the address that is not found.
        AnswerRow(
            .fcmV1,
            404,
            "",
            .permanent,
            doubtful: true,
            "nothing was found, without FCM's error code: when many are refused, check project id and address"
        ),
        AnswerRow(
            .fcmV1,
            405,
            "",
            .stopApplication,
            application: .stop,
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
        AnswerRow(.fcmV1, 408, "", .retry, delay: failureDelay, "the request timed out at the gateway"),
        AnswerRow(.fcmV1, 429, "", .retry, delay: quotaDelay, "too many requests"),
        AnswerRow(.fcmV1, 500, "", .retry, delay: failureDelay, "an error of the gateway"),
    ]

    /// Debug data of GOAWAY that FCM's front ends have been seen to send.
    static let fcmV1GoAways: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            0,
            "session_timed_out",
            .unprocessed,
            source: .goAway,
            connection: .replace,
            "the connection was idle for some minutes"
        ),
        AnswerRow(
            .fcmV1,
            0,
            "too_many_pings",
            .unprocessed,
            source: .goAway,
            connection: .replace,
            "FCM does not want so many PING frames"
        ),
        AnswerRow(
            .fcmV1,
            0,
            "exceeded_max_concurrent_streams",
            .unprocessed,
            source: .goAway,
            connection: .replace,
            "more than the allowed concurrent streams were open"
        ),
        AnswerRow(
            .fcmV1,
            0,
            "",
            .unprocessed,
            source: .goAway,
            connection: .replace,
            "FCM ended the connection for an unknown reason"
        ),
    ]
}
