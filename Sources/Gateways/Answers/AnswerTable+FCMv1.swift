// A table with one line per row, wider than other code.
// swift-format-ignore-file

import PushCore

extension GatewayAnswers {
    /// The answers of FCM HTTP v1.
    package static let fcmV1 = GatewayAnswers(.fcmV1, AnswerTable.fcmV1Rows)
}

extension AnswerTable {
    /// All rows of FCM HTTP v1.
    static let fcmV1Rows: [AnswerRow] =
        fcmV1Responses + fcmV1OtherResponses + fcmV1Unspecified + fcmV1GoAways + fcmV1Unanswered + fcmV1TokenEndpoint

    /// The condition of the rows for errors that name the field `message.token`.
    static let tokenAtFaultCondition = "message.token"

    /// Firebase: "If no retry-after header is set, default to 60 seconds."
    static let quotaDelay: Int32 = 60_000
    /// One message in five minutes checks whether a credential stored with the gateway was fixed.
    static let credentialDelay: Int32 = 300_000
    /// Firebase: "Wait at least 10 seconds before retrying a failed request."
    static let failureDelay: Int32 = 10_000

    /// Every error code that Firebase documents, and the errors without a code that its servers give.
    static let fcmV1Responses: [AnswerRow] = [fcmV1Accepted] + fcmV1Messages + fcmV1Senders + fcmV1Server

    private static let fcmV1Accepted = AnswerRow(.fcmV1, 200, "", .accepted, "FCM accepted the message; its name is kept as the gateway's message id")

    private static let fcmV1Messages: [AnswerRow] = [
        AnswerRow(.fcmV1, 400, "INVALID_ARGUMENT", .permanent, condition: tokenAtFaultCondition, token: .invalid, failure: .hardUserUnknown, "the push token is not an FCM registration token (Adobe: ignored, undefined); when many are refused, no token is touched"),
        AnswerRow(.fcmV1, 400, "INVALID_ARGUMENT", .permanent, failure: .ignoredUndefined, "FCM refuses a part of the message and names the field: see `delivery status`, the console or the log, and correct the delivery's content"),
        AnswerRow(.fcmV1, 404, "UNREGISTERED", .permanent, token: .invalid, failure: .hardUserUnknown, "the app was removed from the device or the push token has expired"),
        // A wrong service account gives this answer for every token, so the token is kept.
        AnswerRow(.fcmV1, 403, "SENDER_ID_MISMATCH", .permanent, token: .softError, doubtful: true, failure: .softUserUnknown, "the push token belongs to another Firebase project: it is kept and counted, as Adobe does (Firebase: remove it); when many are refused, check the service account"),
        AnswerRow(.fcmV1, 429, "QUOTA_EXCEEDED", .retry, fault: .message, delay: quotaDelay, failure: .softRefused, "the quota of this device or topic is used up for now; if message after message gets it, the project's is, and it counts as the gateway's trouble; the token is not counted"),
    ]

    private static let fcmV1Server: [AnswerRow] = [
        AnswerRow(.fcmV1, 500, "INTERNAL", .retry, fault: .server, delay: failureDelay, failure: .ignoredRefused, "FCM has an internal error"),
        AnswerRow(.fcmV1, 503, "UNAVAILABLE", .retry, delay: failureDelay, failure: .ignoredRefused, "FCM is temporarily unavailable"),
    ]

    /// Undocumented error codes, and answers without a readable body.
    static let fcmV1OtherResponses: [AnswerRow] = [
        malformed(.fcmV1, "a 200 without a message name in JSON: FCM did not give it"),
        AnswerRow(.fcmV1, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation),
        AnswerRow(.fcmV1, 300, "", .stopApplication, application: .stop, failure: .ignoredRefused, "a redirection, which FCM never gives: check that the address is the gateway's and no proxy answers for it"),
        AnswerRow(.fcmV1, 400, "", .retry, fault: .unknown, failure: .ignoredRefused, unknownExplanation),
        AnswerRow(.fcmV1, 401, "", .unprocessed, application: .renewToken, failure: .ignoredRefused, "the access token is refused: a new one is fetched; if that is refused too, the application is stopped: check the service account"),
        // The sender is at fault. Holding messages back can be undone; failing all of them cannot.
        AnswerRow(.fcmV1, 403, "", .stopApplication, application: .stop, failure: .ignoredRefused, "the sender is not allowed, for an unknown reason: check service account and project"),
        // Without an FCM error code, the project or the address may be what was not found.
        AnswerRow(.fcmV1, 404, "", .permanent, doubtful: true, failure: .ignoredRefused, "nothing was found, without FCM's error code: when many are refused, check project id and address"),
        AnswerRow(.fcmV1, 405, "", .stopApplication, application: .stop, failure: .ignoredRefused, "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
        AnswerRow(.fcmV1, 408, "", .retry, delay: failureDelay, failure: .ignoredRefused, "the request timed out at the gateway"),
        AnswerRow(.fcmV1, 429, "", .retry, delay: quotaDelay, failure: .ignoredRefused, "too many requests"),
        AnswerRow(.fcmV1, 500, "", .retry, fault: .server, delay: failureDelay, failure: .ignoredRefused, "a gateway error, which may be temporary (Adobe: not tried again)"),
    ]
}

/// Faults of the sender. Adobe fails the message where it has a row; here it stays pending until the fault is fixed.
extension AnswerTable {
    static let fcmV1Senders: [AnswerRow] = [
        AnswerRow(.fcmV1, 401, "THIRD_PARTY_AUTH_ERROR", .retry, fault: .credential, delay: credentialDelay, failure: .ignoredRefused, "the APNs or web push credential stored in the Firebase project is wrong: messages to devices that need it wait separately, others continue; correct it in the Firebase console"),
        AnswerRow(.fcmV1, 401, "APNS_AUTH_ERROR", .retry, fault: .credential, delay: credentialDelay, failure: .ignoredRefused, "the APNs credential stored in the Firebase project is wrong: messages to devices that need it wait separately, others continue; correct it in the Firebase console"),
        AnswerRow(.fcmV1, 401, "UNAUTHENTICATED", .unprocessed, application: .renewToken, failure: .ignoredRefused, "the access token is refused: a new one is fetched; if that is refused too, the application is stopped: check the service account"),
        AnswerRow(.fcmV1, 403, "PERMISSION_DENIED", .stopApplication, application: .stop, failure: .ignoredRefused, "the service account may not send for this project: give it the role Firebase Cloud Messaging API Admin, enable the API, check the project id"),
        AnswerRow(.fcmV1, 403, "SERVICE_DISABLED", .stopApplication, application: .stop, failure: .ignoredRefused, "the Firebase Cloud Messaging API is not enabled for the project: enable it in the Google Cloud console"),
        AnswerRow(.fcmV1, 429, "RATE_LIMIT_EXCEEDED", .retry, application: .pause, delay: quotaDelay, failure: .ignoredRefused, "the project's quota of messages per minute is used up: all hosts send only probes; ask Google for more if it repeats"),
        AnswerRow(.fcmV1, 429, "RESOURCE_EXHAUSTED", .retry, application: .pause, delay: quotaDelay, failure: .ignoredRefused, "the project's quota is used up: all hosts send only probes; ask Google for more if it repeats"),
    ]

    /// Answers of Google's endpoint for access tokens: temporary errors, for which messages wait, and errors that stop
    /// the application.
    static let fcmV1TokenEndpoint: [AnswerRow] =
        ["temporarily_unavailable", "server_error", "internal_failure", "rate_limit_exceeded"].map { error in
            waiting(0, error, "the endpoint for access tokens is failing: messages wait")
        } + [
            waiting(200, "", "the endpoint for access tokens answered without a token: messages wait"),
            waiting(408, "", "the request timed out at the endpoint for access tokens: messages wait"),
            waiting(429, "", "the endpoint for access tokens wants fewer requests: messages wait"),
            waiting(500, "", "the endpoint for access tokens is failing: messages wait"),
            waiting(0, "", "the endpoint for access tokens is unreachable: messages wait; check network, DNS and proxy"),
            refused(0, "invalid_grant", "the service account's key is unknown or the clock is wrong: check key file and clock"),
            refused(0, "invalid_client", "the service account is unknown: check its key file"),
            refused(0, "unauthorized_client", "the service account may not have this access: check its rights"),
            refused(0, "access_denied", "the service account was refused: check its rights"),
            refused(0, "disabled_client", "the service account is disabled: enable it in the Google Cloud console"),
            refused(300, "", "a redirection: check token_uri in the service account's file and what proxies do"),
            refused(400, "", "the grant was refused: check the service account's file, its key and the database host's clock"),
        ]

    private static func waiting(_ status: Int16, _ error: String, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .fcmV1,
            status,
            error,
            .unprocessed,
            source: .tokenEndpoint,
            failure: .ignoredRefused,
            explanation
        )
    }

    private static func refused(_ status: Int16, _ error: String, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .fcmV1,
            status,
            error,
            .stopApplication,
            source: .tokenEndpoint,
            application: .stop,
            failure: .ignoredRefused,
            explanation
        )
    }
}

extension AnswerTable {
    /// FCM's error code for "no more information is available": the status decides, as it does for an error without a code.
    static let fcmV1Unspecified: [AnswerRow] = fcmV1OtherResponses.compactMap { row in
        guard row.reason.isEmpty, unspecifiedStatuses.contains(row.status) else { return nil }
        var row = row
        row.reason = "UNSPECIFIED_ERROR"
        row.explanation = "FCM says no more than the status: " + row.explanation
        return row
    }

    /// The statuses that FCM documents for its other codes. 500 also covers 503, which means the same.
    private static let unspecifiedStatuses: Set<Int16> = [400, 401, 403, 404, 429, 500]
}

extension AnswerTable {
    /// GOAWAY debug data that FCM's front ends have been observed to send.
    static let fcmV1GoAways: [AnswerRow] = [
        goAway("session_timed_out", "the connection was idle for some minutes"),
        goAway("too_many_pings", "FCM wants fewer PING frames"),
        goAway("exceeded_max_concurrent_streams", "more concurrent streams were open than allowed"),
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

    /// Messages without an answer, and messages that cannot be sent.
    static let fcmV1Unanswered: [AnswerRow] =
        http2Unanswered(.fcmV1) + [
            AnswerRow(.fcmV1, 0, "PayloadTooLarge", .permanent, source: .check, failure: .softRefused, "the payload is larger than 4,096 bytes with this subscription's values: shorten the content"),
            AnswerRow(.fcmV1, 0, "FieldsUnreadable", .permanent, source: .check, failure: .ignoredUndefined, "the target mapping's view cannot be read for this person; the reason says why: correct the person's row or the view"),
            AnswerRow(.fcmV1, 0, "", .permanent, source: .check, failure: .ignoredUndefined, "the message cannot be rendered from the content and this subscription's values: correct the delivery's content"),
        ]
}
