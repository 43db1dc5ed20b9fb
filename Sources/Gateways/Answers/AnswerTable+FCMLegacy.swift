// A table with one line per row, wider than other code.
// swift-format-ignore-file

import PushCore

extension GatewayAnswers {
    /// The answers of legacy FCM. It reports a wrong key or address as an HTML page.
    package static let fcmLegacy = GatewayAnswers(.fcmLegacy, AnswerTable.fcmLegacyRows, refusesWithPages: true)
}

extension AnswerTable {
    /// All rows of legacy FCM.
    ///
    /// Adobe Campaign has two tables for it, those of its connectors Android V1 and Android V2. Where they differ, V2
    /// applies: V1 calls nearly everything hard, which would lose valid tokens.
    static let fcmLegacyRows: [AnswerRow] =
        fcmLegacyAccepted + fcmLegacyDevices + fcmLegacyMessages + fcmLegacyServer + fcmLegacyRequests
        + fcmLegacyUnanswered

    /// What a legacy FCM answer means; for an error in its results the status is 200.
    ///
    /// An unknown error is classified by its status, if that is one of FCM's.
    ///
    /// - Parameter isPage: the body is an HTML page or missing. FCM describes a faulty request in one line of text.
    package static func fcmLegacy(status: Int16, reason: String, isPage: Bool = false) -> AnswerRow {
        let answers = GatewayAnswers.fcmLegacy
        if !reason.isEmpty, let row = answers.row(.response, status, reason) { return row }
        if status == 200, !reason.isEmpty {
            return answers.row(.response, 200, "", errorCondition) ?? answers.foreign
        }
        let isKnown = answers.row(.response, status, "") != nil
        return answers.other(status, isGatewaysForm: isKnown && !isPage)
    }

    /// The meaning of an accepted message whose result names another token.
    package static var fcmLegacyReplaced: AnswerRow {
        GatewayAnswers.fcmLegacy.row(.response, 200, "", canonicalCondition) ?? GatewayAnswers.fcmLegacy.foreign
    }

    /// The condition of the row for results with a canonical id.
    static let canonicalCondition = "registration_id"
    /// The condition of the row for unknown errors in results.
    static let errorCondition = "error"

    private static let fcmLegacyAccepted: [AnswerRow] = [
        AnswerRow(.fcmLegacy, 200, "", .accepted, "FCM accepted the message; its id is kept as the gateway's message id"),
        AnswerRow(.fcmLegacy, 200, "", .accepted, condition: canonicalCondition, token: .replaced, "FCM accepted the message and wants this token used instead of the known one"),
        // FCM may have accepted it for all or some of the devices.
        AnswerRow(.fcmLegacy, 200, NoAnswerReason.malformed, .ambiguous, failure: .softUnreachable, "no JSON, or the number of results differs from the number of messages: some may have been accepted; check that no proxy answers for the gateway"),
    ]

    /// Answers about one device.
    private static let fcmLegacyDevices: [AnswerRow] = [
        AnswerRow(.fcmLegacy, 200, "InvalidRegistration", .permanent, token: .invalid, failure: .hardUserUnknown, "the push token is not an FCM registration token; when many are refused, no token is touched"),
        AnswerRow(.fcmLegacy, 200, "NotRegistered", .permanent, token: .invalid, failure: .hardUserUnknown, "the app was removed from the device or the push token has expired"),
        // A wrong key gives this answer for every token, so the token is kept.
        AnswerRow(.fcmLegacy, 200, "MismatchSenderId", .permanent, token: .softError, doubtful: true, failure: .softRefused, "the push token belongs to another sender: it is kept and counted (Adobe: hard; Firebase: remove it); when many are refused, check the project key"),
        AnswerRow(.fcmLegacy, 200, "InvalidPackageName", .permanent, doubtful: true, failure: .ignoredRefused, "the push token is of an app with another package name: correct restricted_package_name in the delivery's content"),
        AnswerRow(.fcmLegacy, 200, "MissingRegistration", .permanent, failure: .ignoredRefused, "the subscription's push token is empty"),
        // Only a live device gets this many messages: the token is not counted.
        AnswerRow(.fcmLegacy, 200, "DeviceMessageRateExceeded", .retry, fault: .message, delay: quotaDelay, failure: .softRefused, "too many messages for this device at the moment (Adobe's V1: not tried again)"),
    ]

    /// Answers about the message.
    private static let fcmLegacyMessages: [AnswerRow] = [
        AnswerRow(.fcmLegacy, 200, "MessageTooBig", .permanent, failure: .softRefused, "the payload is larger than 4,096 bytes: shorten the content (Adobe's V1: tried again, which cannot help)"),
        AnswerRow(.fcmLegacy, 200, "InvalidDataKey", .permanent, failure: .softUndefined, "a variable has a name that FCM reserves (from, message_type, google…, gcm…): rename it"),
        AnswerRow(.fcmLegacy, 200, "InvalidTtl", .permanent, failure: .ignoredRefused, "the time to live is not 0 to 2,419,200 seconds: correct the delivery's content"),
        AnswerRow(.fcmLegacy, 200, "", .permanent, condition: errorCondition, failure: .ignoredRefused, "refused for an unknown reason (Adobe's V1: hard)"),
    ]
}

extension AnswerTable {
    /// Results about the gateway or the sender.
    static let fcmLegacyServer: [AnswerRow] = [
        AnswerRow(.fcmLegacy, 200, "Unavailable", .retry, delay: failureDelay, failure: .softUnreachable, "FCM is temporarily unavailable"),
        AnswerRow(.fcmLegacy, 200, "InternalServerError", .retry, fault: .server, delay: failureDelay, failure: .ignoredRefused, "FCM has an internal error, which may be temporary (Adobe: not tried again)"),
        AnswerRow(.fcmLegacy, 200, "TopicsMessageRateExceeded", .retry, fault: .message, delay: quotaDelay, failure: .softRefused, "too many messages for the topic at the moment"),
        AnswerRow(.fcmLegacy, 200, "InvalidApnsCredential", .retry, fault: .credential, delay: credentialDelay, failure: .ignoredRefused, "the APNs credential stored in the Firebase project is wrong: messages to devices that need it wait separately, others continue; correct it in the Firebase console"),
        AnswerRow(.fcmLegacy, 200, "DeprecatedApi", .stopApplication, application: .stop, failure: .softRefused, "Google has switched the legacy protocol off (July 2024): set a service account as the application's credential, which uses HTTP v1"),
    ]

    /// Answers to a whole request.
    static let fcmLegacyRequests: [AnswerRow] = [
        request(400, "InvalidParameters", .permanent, failure: .ignoredRefused, "a field of the request is wrong: see FCM's text in `delivery status`, the console or the log, and correct the delivery's content"),
        request(500, "InternalServerError", .retry, fault: .server, delay: failureDelay, failure: .ignoredRefused, "FCM has an internal error, which may be temporary (Adobe: not tried again)"),
        request(500, "Unavailable", .retry, delay: failureDelay, failure: .softUnreachable, "FCM is temporarily unavailable"),
        request(503, "Unavailable", .retry, delay: failureDelay, failure: .softUnreachable, "FCM is temporarily unavailable"),
        request(400, "", .permanent, failure: .ignoredRefused, "the request is malformed: see FCM's text in `delivery status`, the console or the log, and correct the delivery's content"),
        stop(401, "INVALID_KEY", "the project key is wrong or was deleted: set the server key of the Firebase console, or a service account"),
        stop(401, "", "the sender is not known: set the server key of the Firebase console, or a service account"),
        stop(403, "", "the sender is not allowed, for an unknown reason: check the project key"),
        stop(404, "", "the legacy protocol no longer exists: Google switched it off (July 2024), so set a service account; for another gateway check the external account's address"),
        stop(405, "", "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
        stop(300, "", "a redirection, which FCM never gives: check that the address is the gateway's and no proxy answers for it"),
        request(408, "", .retry, delay: failureDelay, failure: .softUnreachable, "the request timed out at the gateway"),
        request(429, "", .retry, delay: quotaDelay, failure: .softRefused, "too many requests"),
        request(500, "", .retry, fault: .server, delay: failureDelay, failure: .softUnreachable, "a gateway error, which may be temporary"),
        request(503, "", .retry, delay: failureDelay, failure: .softUnreachable, "FCM is temporarily unavailable"),
        AnswerRow(.fcmLegacy, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation),
    ]

    /// Messages without an answer, and messages that cannot be sent.
    static let fcmLegacyUnanswered: [AnswerRow] = [
        unanswered("ConnectionLost", "the connection was lost before the answer came"),
        unanswered("Timeout", "no answer came in time"),
        unanswered("AnswerTooLarge", "the answer was larger than any that the gateway gives"),
        unanswered("", "the exchange broke off"),
        AnswerRow(.fcmLegacy, 0, "", .unprocessed, source: .noAnswer, failure: .softUnreachable, "the message was not written: it is sent again"),
        AnswerRow(.fcmLegacy, 0, "PayloadTooLarge", .permanent, source: .check, failure: .softRefused, "the payload is larger than 4,096 bytes with this subscription's values: shorten the content"),
        AnswerRow(.fcmLegacy, 0, "FieldsUnreadable", .permanent, source: .check, failure: .ignoredUndefined, "the target mapping's view cannot be read for this person; the reason says why: correct the person's row or the view"),
        AnswerRow(.fcmLegacy, 0, "", .permanent, source: .check, failure: .ignoredUndefined, "the message cannot be rendered from the content and this subscription's values: correct the delivery's content"),
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
            explanation + ": it may have been accepted, and is sent again or reported as unknown, as the delivery's ambiguity policy says"
        )
    }
}
