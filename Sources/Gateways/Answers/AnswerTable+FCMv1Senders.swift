import PushCore

/// What is wrong with who sends. Adobe fails the message where it has a row; here it stays pending until that is put right.
extension AnswerTable {
    static let fcmV1Senders: [AnswerRow] = [
        AnswerRow(
            .fcmV1,
            401,
            "THIRD_PARTY_AUTH_ERROR",
            .retry,
            delay: quotaDelay,
            failure: .ignoredRefused,
            "the APNs or web push credential stored in the Firebase project is wrong: correct it in the Firebase console"
        ),
        AnswerRow(
            .fcmV1,
            401,
            "APNS_AUTH_ERROR",
            .retry,
            delay: quotaDelay,
            failure: .ignoredRefused,
            "the APNs credential stored in the Firebase project is wrong: correct it in the Firebase console"
        ),
        AnswerRow(
            .fcmV1,
            401,
            "UNAUTHENTICATED",
            .unprocessed,
            application: .renewToken,
            failure: .ignoredRefused,
            "the access token is not taken: it is fetched anew; refused again, the application is stopped: check the service account"
        ),
        AnswerRow(
            .fcmV1,
            403,
            "PERMISSION_DENIED",
            .stopApplication,
            application: .stop,
            failure: .ignoredRefused,
            "the service account may not send for this project: give it the role Firebase Cloud Messaging API Admin, enable the API, check the project id"
        ),
        AnswerRow(
            .fcmV1,
            403,
            "SERVICE_DISABLED",
            .stopApplication,
            application: .stop,
            failure: .ignoredRefused,
            "the Firebase Cloud Messaging API is not enabled for the project: enable it in the Google Cloud console"
        ),
        AnswerRow(
            .fcmV1,
            429,
            "RATE_LIMIT_EXCEEDED",
            .retry,
            application: .pause,
            delay: quotaDelay,
            failure: .ignoredRefused,
            "the project's quota of messages per minute is used up: nothing is sent but probes, on all hosts; ask Google for more if it repeats"
        ),
        AnswerRow(
            .fcmV1,
            429,
            "RESOURCE_EXHAUSTED",
            .retry,
            application: .pause,
            delay: quotaDelay,
            failure: .ignoredRefused,
            "the project's quota is used up: nothing is sent but probes, on all hosts; ask Google for more if it repeats"
        ),
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
            waiting(
                0,
                "",
                "the endpoint of access tokens cannot be reached: messages wait; check network, DNS and proxy"
            ),
            refused(
                0,
                "invalid_grant",
                "the service account's key is not known or the clock is wrong: check key file and clock"
            ),
            refused(0, "invalid_client", "the service account is not known: check its key file"),
            refused(0, "unauthorized_client", "the service account may not have this access: check its rights"),
            refused(0, "access_denied", "the service account was refused: check its rights"),
            refused(0, "disabled_client", "the service account is disabled: enable it in the Google Cloud console"),
            refused(300, "", "a redirection: check token_uri in the service account's file and what proxies do"),
            refused(
                400,
                "",
                "the grant is refused: check the service account's file, its key and the database host's clock"
            ),
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
