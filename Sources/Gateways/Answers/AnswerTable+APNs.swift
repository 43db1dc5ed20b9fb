import PushCore

extension AnswerTable {
    /// All rows of APNs over HTTP/2.
    static let apnsRows: [AnswerRow] =
        apnsResponses + apnsSuffixedTopics + apnsOtherResponses + apnsGoAways + apnsUnanswered

    /// Every status and reason that Apple documents.
    static let apnsResponses: [AnswerRow] =
        [apnsAccepted] + apnsRejections + apnsSetup + apnsCredentials + apnsDevices + apnsServer

    private static let apnsAccepted = AnswerRow(
        .apnsHTTP2,
        200,
        "",
        .accepted,
        "APNs took the message; that the device is off or shows no notifications is no failure"
    )

    /// What is wrong with a message says nothing about its token: Adobe calls it soft, but the token is not counted, as content that
    /// is wrong five times would cost every token that it went to.
    private static let apnsRejections: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadCollapseId",
            .permanent,
            failure: .softUndefined,
            "the collapse id is longer than 64 bytes: shorten it"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadExpirationDate",
            .permanent,
            failure: .softUndefined,
            "apns-expiration is malformed"
        ),
        AnswerRow(.apnsHTTP2, 400, "BadMessageId", .permanent, failure: .softUndefined, "apns-id is no UUID"),
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadPriority",
            .permanent,
            failure: .softUndefined,
            "the priority is not 10, 5 or 1, or it is 10 for a background push: correct the delivery's content"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "InvalidPushType",
            .permanent,
            failure: .softUndefined,
            "the push type is unknown: correct the delivery's content"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "MissingDeviceToken",
            .permanent,
            failure: .softRefused,
            "the subscription's push token is empty"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "PayloadEmpty",
            .permanent,
            failure: .softUndefined,
            "the payload is empty: correct the delivery's content"
        ),
        AnswerRow(
            .apnsHTTP2,
            404,
            "BadPath",
            .permanent,
            token: .softError,
            doubtful: true,
            failure: .softRefused,
            "the path is malformed: the push token has a form that APNs refuses; when many are refused, check what proxies do"
        ),
        AnswerRow(
            .apnsHTTP2,
            413,
            "PayloadTooLarge",
            .permanent,
            failure: .softRefused,
            "the payload is larger than 4,096 bytes (VoIP 5,120): shorten the content"
        ),
    ]

    /// What is said of the device.
    private static let apnsDevices: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadDeviceToken",
            .permanent,
            token: .invalid,
            failure: .hardUserUnknown,
            "the push token is invalid or of the other environment: Apple says never to send to it again (Adobe: soft, refused); when "
                + "many are refused, no token is touched: check the application's environment"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "DeviceTokenNotForTopic",
            .permanent,
            token: .invalid,
            failure: .hardUserUnknown,
            "the push token belongs to another app: Apple says never to send to it again (Adobe: soft, refused); when many are "
                + "refused, no token is touched: check the bundle id"
        ),
        AnswerRow(
            .apnsHTTP2,
            410,
            "ExpiredToken",
            .permanent,
            token: .invalidSinceTimestamp,
            failure: .hardUserUnknown,
            "the push token has expired"
        ),
        AnswerRow(
            .apnsHTTP2,
            410,
            "Unregistered",
            .permanent,
            token: .invalidSinceTimestamp,
            failure: .hardUserUnknown,
            "the app was removed from the device or takes no pushes any more"
        ),
        // Only a device that is alive gets so many messages: the token is not counted.
        AnswerRow(
            .apnsHTTP2,
            429,
            "TooManyRequests",
            .retry,
            fault: .message,
            failure: .softRefused,
            "too many messages to the same device one after the other: it is tried again later (Adobe: not at all)"
        ),
    ]

    /// What spaces the attempts of a lone message while others pass, as Firebase asks for. Apple's 15 minutes ("After 15 minutes, you can
    /// retry JSON payloads that receive response status codes that begin with 5XX") are for those who do not probe: when APNs fails
    /// for all, nothing is sent but probes, and nobody waits a quarter of an hour for a gateway that is back.
    static let apnsServerDelay: Int32 = 10_000

    /// The gateway's trouble is not the token's: Adobe calls it soft, but the token is not counted.
    private static let apnsServer: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            500,
            "InternalServerError",
            .retry,
            connection: .replace,
            delay: apnsServerDelay,
            failure: .softRefused,
            "APNs has an internal error: the message is tried again later (Adobe: not at all)"
        ),
        AnswerRow(
            .apnsHTTP2,
            503,
            "ServiceUnavailable",
            .retry,
            delay: apnsServerDelay,
            failure: .softRefused,
            "APNs is unavailable for the moment: the message is tried again later (Adobe: not at all)"
        ),
        AnswerRow(
            .apnsHTTP2,
            503,
            "Shutdown",
            .retry,
            connection: .replace,
            delay: 0,
            failure: .softRefused,
            "the APNs server shuts down: the message is tried again on another connection"
        ),
    ]
}
