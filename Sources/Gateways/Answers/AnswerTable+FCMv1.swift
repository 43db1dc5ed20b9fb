// A table, one line a row, wider than other code.
// swift-format-ignore-file

import PushCore

extension AnswerTable {
    /// All rows of FCM HTTP v1.
    static let fcmV1Rows: [AnswerRow] =
        fcmV1Responses + fcmV1OtherResponses + fcmV1Unspecified + fcmV1GoAways + fcmV1Unanswered + fcmV1TokenEndpoint

    /// The condition of the rows for errors that name the field `message.token`.
    static let tokenAtFaultCondition = "message.token"

    /// Firebase: "If no retry-after header is set, default to 60 seconds."
    static let quotaDelay: Int32 = 60_000
    /// One message in five minutes finds out whether a credential that is stored with the gateway was put right.
    static let credentialDelay: Int32 = 300_000
    /// Firebase: "Wait at least 10 seconds before retrying a failed request."
    static let failureDelay: Int32 = 10_000

    /// Every error code that Firebase documents, and the errors without one that its servers give.
    static let fcmV1Responses: [AnswerRow] = [fcmV1Accepted] + fcmV1Messages + fcmV1Senders + fcmV1Server

    private static let fcmV1Accepted = AnswerRow(.fcmV1, 200, "", .accepted, "FCM took the message; its name is kept as the gateway's message id")

    private static let fcmV1Messages: [AnswerRow] = [
        AnswerRow(.fcmV1, 400, "INVALID_ARGUMENT", .permanent, condition: tokenAtFaultCondition, token: .invalid, failure: .hardUserUnknown, "the push token is no FCM registration token (Adobe: ignored, undefined); when many are refused, no token is touched"),
        AnswerRow(.fcmV1, 400, "INVALID_ARGUMENT", .permanent, failure: .ignoredUndefined, "FCM refuses a part of the message and names the field: see `delivery status`, the console or the log, and correct the delivery's content"),
        AnswerRow(.fcmV1, 404, "UNREGISTERED", .permanent, token: .invalid, failure: .hardUserUnknown, "the app was removed from the device or the push token has expired"),
        // The wrong service account makes all tokens look so: the token is kept.
        AnswerRow(.fcmV1, 403, "SENDER_ID_MISMATCH", .permanent, token: .softError, doubtful: true, failure: .softUserUnknown, "the push token belongs to another Firebase project: it is kept and counted, as Adobe does (Firebase: remove it); when many are refused, check the service account"),
        AnswerRow(.fcmV1, 429, "QUOTA_EXCEEDED", .retry, fault: .message, delay: quotaDelay, failure: .softRefused, "the quota of this device or topic is used up for the moment, or the project's if it comes for message after message, which is the gateway's trouble then; the token is not counted"),
    ]

    private static let fcmV1Server: [AnswerRow] = [
        AnswerRow(.fcmV1, 500, "INTERNAL", .retry, fault: .server, delay: failureDelay, failure: .ignoredRefused, "FCM has an internal error"),
        AnswerRow(.fcmV1, 503, "UNAVAILABLE", .retry, delay: failureDelay, failure: .ignoredRefused, "FCM is unavailable for the moment"),
    ]

    /// Error codes that are not documented, and answers without a readable body.
    static let fcmV1OtherResponses: [AnswerRow] = [
        malformed(.fcmV1, "a 200 without a message name in JSON: FCM did not give it"),
        AnswerRow(.fcmV1, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation),
        AnswerRow(.fcmV1, 300, "", .stopApplication, application: .stop, failure: .ignoredRefused, "a redirection, which FCM never gives: check that the address is the gateway's and no proxy answers for it"),
        AnswerRow(.fcmV1, 400, "", .retry, fault: .unknown, failure: .ignoredRefused, unknownExplanation),
        AnswerRow(.fcmV1, 401, "", .unprocessed, application: .renewToken, failure: .ignoredRefused, "the access token is not taken: it is fetched anew; refused again, the application is stopped: check the service account"),
        // Who sends is wrong. Keeping messages back can be undone, failing all of them cannot.
        AnswerRow(.fcmV1, 403, "", .stopApplication, application: .stop, failure: .ignoredRefused, "the sender is not allowed, for an unknown reason: check service account and project"),
        // Without an FCM error code it may be the project or the address that is not found.
        AnswerRow(.fcmV1, 404, "", .permanent, doubtful: true, failure: .ignoredRefused, "nothing was found, without FCM's error code: when many are refused, check project id and address"),
        AnswerRow(.fcmV1, 405, "", .stopApplication, application: .stop, failure: .ignoredRefused, "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
        AnswerRow(.fcmV1, 408, "", .retry, delay: failureDelay, failure: .ignoredRefused, "the request timed out at the gateway"),
        AnswerRow(.fcmV1, 429, "", .retry, delay: quotaDelay, failure: .ignoredRefused, "too many requests"),
        AnswerRow(.fcmV1, 500, "", .retry, fault: .server, delay: failureDelay, failure: .ignoredRefused, "an error of the gateway, which may pass (Adobe: not tried again)"),
    ]
}

/// What is wrong with who sends. Adobe fails the message where it has a row; here it stays pending until that is put right.
extension AnswerTable {
    static let fcmV1Senders: [AnswerRow] = [
        AnswerRow(.fcmV1, 401, "THIRD_PARTY_AUTH_ERROR", .retry, fault: .credential, delay: credentialDelay, failure: .ignoredRefused, "the APNs or web push credential stored in the Firebase project is wrong: messages to devices that need it wait apart, others go on; correct it in the Firebase console"),
        AnswerRow(.fcmV1, 401, "APNS_AUTH_ERROR", .retry, fault: .credential, delay: credentialDelay, failure: .ignoredRefused, "the APNs credential stored in the Firebase project is wrong: messages to devices that need it wait apart, others go on; correct it in the Firebase console"),
        AnswerRow(.fcmV1, 401, "UNAUTHENTICATED", .unprocessed, application: .renewToken, failure: .ignoredRefused, "the access token is not taken: it is fetched anew; refused again, the application is stopped: check the service account"),
        AnswerRow(.fcmV1, 403, "PERMISSION_DENIED", .stopApplication, application: .stop, failure: .ignoredRefused, "the service account may not send for this project: give it the role Firebase Cloud Messaging API Admin, enable the API, check the project id"),
        AnswerRow(.fcmV1, 403, "SERVICE_DISABLED", .stopApplication, application: .stop, failure: .ignoredRefused, "the Firebase Cloud Messaging API is not enabled for the project: enable it in the Google Cloud console"),
        AnswerRow(.fcmV1, 429, "RATE_LIMIT_EXCEEDED", .retry, application: .pause, delay: quotaDelay, failure: .ignoredRefused, "the project's quota of messages per minute is used up: nothing is sent but probes, on all hosts; ask Google for more if it repeats"),
        AnswerRow(.fcmV1, 429, "RESOURCE_EXHAUSTED", .retry, application: .pause, delay: quotaDelay, failure: .ignoredRefused, "the project's quota is used up: nothing is sent but probes, on all hosts; ask Google for more if it repeats"),
    ]

    /// What Google's endpoint of access tokens says: errors that pass by themselves, for which messages wait, and errors for which
    /// the application is stopped.
    static let fcmV1TokenEndpoint: [AnswerRow] =
        ["temporarily_unavailable", "server_error", "internal_failure", "rate_limit_exceeded"].map { error in
            waiting(0, error, "the endpoint of access tokens is in trouble: messages wait")
        } + [
            waiting(200, "", "the endpoint of access tokens gave an answer without a token: messages wait"),
            waiting(408, "", "the request timed out at the endpoint of access tokens: messages wait"),
            waiting(429, "", "the endpoint of access tokens wants fewer requests: messages wait"),
            waiting(500, "", "the endpoint of access tokens is in trouble: messages wait"),
            waiting(0, "", "the endpoint of access tokens cannot be reached: messages wait; check network, DNS and proxy"),
            refused(0, "invalid_grant", "the service account's key is not known or the clock is wrong: check key file and clock"),
            refused(0, "invalid_client", "the service account is not known: check its key file"),
            refused(0, "unauthorized_client", "the service account may not have this access: check its rights"),
            refused(0, "access_denied", "the service account was refused: check its rights"),
            refused(0, "disabled_client", "the service account is disabled: enable it in the Google Cloud console"),
            refused(300, "", "a redirection: check token_uri in the service account's file and what proxies do"),
            refused(400, "", "the grant is refused: check the service account's file, its key and the database host's clock"),
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

    /// The statuses that FCM documents for its other codes; 500 goes for 503, too, as their meaning is the same.
    private static let unspecifiedStatuses: Set<Int16> = [400, 401, 403, 404, 429, 500]
}

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
            AnswerRow(.fcmV1, 0, "PayloadTooLarge", .permanent, source: .check, failure: .softRefused, "the payload is larger than 4,096 bytes with this subscription's values: shorten the content"),
            AnswerRow(.fcmV1, 0, "FieldsUnreadable", .permanent, source: .check, failure: .ignoredUndefined, "the target mapping's view cannot be read for this person, as the reason says: put the person's row there right, or the view"),
            AnswerRow(.fcmV1, 0, "", .permanent, source: .check, failure: .ignoredUndefined, "the message cannot be made of the content and this subscription's values: correct the delivery's content"),
        ]
}
