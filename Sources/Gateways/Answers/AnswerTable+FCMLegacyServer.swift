import PushCore

extension AnswerTable {
    /// What is said of the gateway or of the sender in the results of an answer.
    static let fcmLegacyServer: [AnswerRow] = [
        AnswerRow(
            .fcmLegacy,
            200,
            "Unavailable",
            .retry,
            delay: failureDelay,
            failure: .softUnreachable,
            "FCM is unavailable for the moment"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "InternalServerError",
            .retry,
            delay: failureDelay,
            failure: .ignoredRefused,
            "FCM has an internal error, which may pass (Adobe: not tried again)"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "TopicsMessageRateExceeded",
            .retry,
            fault: .message,
            delay: quotaDelay,
            failure: .softRefused,
            "too many messages for the topic for the moment"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "InvalidApnsCredential",
            .retry,
            delay: quotaDelay,
            failure: .ignoredRefused,
            "the APNs credential stored in the Firebase project is wrong: correct it in the Firebase console"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "DeprecatedApi",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "Google has switched the legacy protocol off (July 2024): set a service account as the application's credential, which uses HTTP v1"
        ),
    ]

    /// Answers to a whole request.
    static let fcmLegacyRequests: [AnswerRow] = [
        request(
            400,
            "InvalidParameters",
            .permanent,
            failure: .ignoredRefused,
            "a field of the request is wrong: the log shows the text; correct the delivery's content"
        ),
        request(
            500,
            "InternalServerError",
            .retry,
            delay: failureDelay,
            failure: .ignoredRefused,
            "FCM has an internal error, which may pass (Adobe: not tried again)"
        ),
        request(
            500,
            "Unavailable",
            .retry,
            delay: failureDelay,
            failure: .softUnreachable,
            "FCM is unavailable for the moment"
        ),
        request(
            503,
            "Unavailable",
            .retry,
            delay: failureDelay,
            failure: .softUnreachable,
            "FCM is unavailable for the moment"
        ),
        request(
            400,
            "",
            .permanent,
            failure: .ignoredRefused,
            "the request is malformed: the log shows the text; correct the delivery's content"
        ),
        stop(
            401,
            "INVALID_KEY",
            "the project key is wrong or was deleted: set the server key of the Firebase console, or a service account"
        ),
        stop(401, "", "the sender is not known: set the server key of the Firebase console, or a service account"),
        stop(403, "", "the sender is not allowed, for an unknown reason: check the project key"),
        stop(
            404,
            "",
            "the legacy protocol is not there: Google has switched it off (July 2024), so set a service account; for another gateway "
                + "check the external account's address"
        ),
        stop(
            405,
            "",
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
        stop(
            300,
            "",
            "a redirection, which FCM never gives: check that the address is the gateway's and no proxy answers for it"
        ),
        request(
            408,
            "",
            .retry,
            delay: failureDelay,
            failure: .softUnreachable,
            "the request timed out at the gateway"
        ),
        request(429, "", .retry, delay: quotaDelay, failure: .softRefused, "too many requests"),
        request(
            500,
            "",
            .retry,
            delay: failureDelay,
            failure: .softUnreachable,
            "an error of the gateway, which may pass"
        ),
        request(503, "", .retry, delay: failureDelay, failure: .softUnreachable, "FCM is unavailable for the moment"),
        AnswerRow(
            .fcmLegacy,
            0,
            "",
            .retry,
            fault: .foreign,
            failure: .ignoredRefused,
            foreignExplanation
        ),
    ]

    /// Messages without an answer, and messages that are not fit to be sent.
    static let fcmLegacyUnanswered: [AnswerRow] = [
        unanswered("ConnectionLost", "the connection was lost before the answer came"),
        unanswered("Timeout", "no answer came in time"),
        unanswered("AnswerTooLarge", "the answer was larger than any of the gateway's"),
        unanswered("", "the exchange broke off"),
        AnswerRow(
            .fcmLegacy,
            0,
            "",
            .unprocessed,
            source: .noAnswer,
            failure: .softUnreachable,
            "the message was not written: it is sent again"
        ),
        AnswerRow(
            .fcmLegacy,
            0,
            "PayloadTooLarge",
            .permanent,
            source: .check,
            failure: .softRefused,
            "the payload is larger than 4,096 bytes with this subscription's values: shorten the content"
        ),
        AnswerRow(
            .fcmLegacy,
            0,
            "FieldsUnreadable",
            .permanent,
            source: .check,
            failure: .ignoredUndefined,
            "the target mapping's view cannot be read for this person, as the reason says: put the person's row there right, or the view"
        ),
        AnswerRow(
            .fcmLegacy,
            0,
            "",
            .permanent,
            source: .check,
            failure: .ignoredUndefined,
            "the message cannot be made of the content and this subscription's values: correct the delivery's content"
        ),
    ]

    private static func request(
        _ status: Int16,
        _ reason: String,
        _ outcomeClass: OutcomeClass,
        fault: AnswerFault? = nil,
        delay: Int32? = nil,
        failure: MessageFailure,
        _ explanation: String
    ) -> AnswerRow {
        AnswerRow(.fcmLegacy, status, reason, outcomeClass, fault: fault, delay: delay, failure: failure, explanation)
    }

    private static func stop(_ status: Int16, _ reason: String, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .fcmLegacy,
            status,
            reason,
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            explanation
        )
    }

    private static func unanswered(_ reason: String, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .fcmLegacy,
            0,
            reason,
            .ambiguous,
            source: .noAnswer,
            condition: writtenCondition,
            failure: .softUnreachable,
            explanation + ": it may have been taken, and is sent again or reported as unknown, as the delivery says"
        )
    }
}
