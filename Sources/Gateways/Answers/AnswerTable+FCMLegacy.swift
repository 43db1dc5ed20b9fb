import PushCore

extension AnswerTable {
    /// All rows of legacy FCM.
    ///
    /// Adobe Campaign's tables for it are those of its connectors Android V1 and Android V2, which differ: where they do, V2 stands,
    /// as V1 calls nearly everything hard, which would lose tokens that are in order.
    static let fcmLegacyRows: [AnswerRow] =
        fcmLegacyAccepted + fcmLegacyDevices + fcmLegacyMessages + fcmLegacyServer + fcmLegacyRequests
        + fcmLegacyUnanswered

    /// What a legacy FCM answer means; for an error in its results the status is 200.
    ///
    /// An error that nobody knows is classed by the status.
    public static func fcmLegacy(status: Int16, reason: String) -> AnswerRow {
        if !reason.isEmpty, let row = row(.fcmLegacy, .response, status, reason) { return row }
        if status == 200, !reason.isEmpty {
            return row(.fcmLegacy, .response, 200, "", errorCondition) ?? foreign(.fcmLegacy)
        }
        return other(.fcmLegacy, status, isGatewaysForm: true)
    }

    /// The meaning of an accepted message whose result names another token.
    static var fcmLegacyReplaced: AnswerRow {
        row(.fcmLegacy, .response, 200, "", canonicalCondition) ?? foreign(.fcmLegacy)
    }

    /// The meaning of an answer with status 200 from which the message's result cannot be read.
    static var fcmLegacyUnreadable: AnswerRow {
        row(.fcmLegacy, .response, 200, LegacyAnswer.unreadable) ?? foreign(.fcmLegacy)
    }

    /// The condition of the row for results with a canonical id.
    static let canonicalCondition = "registration_id"
    /// The condition of the row for errors in results that nobody knows.
    static let errorCondition = "error"

    private static let fcmLegacyAccepted: [AnswerRow] = [
        AnswerRow(.fcmLegacy, 200, "", .accepted, "FCM took the message; its id is kept as the gateway's message id"),
        AnswerRow(
            .fcmLegacy,
            200,
            "",
            .accepted,
            condition: canonicalCondition,
            token: .replaced,
            "FCM took the message and wants this token instead of the one that is known"
        ),
        // It may have been taken, for all or some of the devices.
        AnswerRow(
            .fcmLegacy,
            200,
            LegacyAnswer.unreadable,
            .ambiguous,
            failure: .softUnreachable,
            "no JSON, or another number of results than messages: some may have been taken; check that no proxy answers for the gateway"
        ),
    ]

    /// What is said of one device.
    private static let fcmLegacyDevices: [AnswerRow] = [
        AnswerRow(
            .fcmLegacy,
            200,
            "InvalidRegistration",
            .permanent,
            token: .invalid,
            failure: .hardUserUnknown,
            "the push token is no FCM registration token; when many are refused, no token is touched"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "NotRegistered",
            .permanent,
            token: .invalid,
            failure: .hardUserUnknown,
            "the app was removed from the device or the push token has expired"
        ),
        // The wrong key makes all tokens look so: the token is kept.
        AnswerRow(
            .fcmLegacy,
            200,
            "MismatchSenderId",
            .permanent,
            token: .softError,
            doubtful: true,
            failure: .softRefused,
            "the push token belongs to another sender: it is kept and counted (Adobe: hard; Firebase: remove it); when many are refused, "
                + "check the project key"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "InvalidPackageName",
            .permanent,
            doubtful: true,
            failure: .ignoredRefused,
            "the push token is of an app with another package name: correct restricted_package_name in the delivery's content"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "MissingRegistration",
            .permanent,
            failure: .ignoredRefused,
            "the subscription's push token is empty"
        ),
        // Only a device that is alive gets so many messages: the token is not counted.
        AnswerRow(
            .fcmLegacy,
            200,
            "DeviceMessageRateExceeded",
            .retry,
            fault: .message,
            delay: quotaDelay,
            failure: .softRefused,
            "too many messages for this device for the moment (Adobe's V1: not tried again)"
        ),
    ]

    /// What is said of the message.
    private static let fcmLegacyMessages: [AnswerRow] = [
        AnswerRow(
            .fcmLegacy,
            200,
            "MessageTooBig",
            .permanent,
            failure: .softRefused,
            "the payload is larger than 4,096 bytes: shorten the content (Adobe's V1: tried again, which cannot help)"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "InvalidDataKey",
            .permanent,
            failure: .softUndefined,
            "a variable has a name that is FCM's own (from, message_type, google…, gcm…): rename it"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "InvalidTtl",
            .permanent,
            failure: .ignoredRefused,
            "the time to live is not 0 to 2,419,200 seconds: correct the delivery's content"
        ),
        AnswerRow(
            .fcmLegacy,
            200,
            "",
            .permanent,
            condition: errorCondition,
            failure: .ignoredRefused,
            "an unknown reason to refuse the message (Adobe's V1: hard)"
        ),
    ]
}
