// A table, one line a row, wider than other code.
// swift-format-ignore-file

import PushCore

extension AnswerTable {
    /// All rows of APNs over HTTP/2.
    static let apnsRows: [AnswerRow] =
        apnsResponses + apnsSuffixedTopics + apnsOtherResponses + apnsGoAways + apnsUnanswered

    /// Every status and reason that Apple documents.
    static let apnsResponses: [AnswerRow] =
        [apnsAccepted] + apnsRejections + apnsSetup + apnsCredentials + apnsDevices + apnsServer

    private static let apnsAccepted = AnswerRow(.apnsHTTP2, 200, "", .accepted, "APNs took the message; that the device is off or shows no notifications is no failure")

    /// What is wrong with a message says nothing about its token: Adobe calls it soft, but the token is not counted, as content that
    /// is wrong five times would cost every token that it went to.
    private static let apnsRejections: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadCollapseId", .permanent, failure: .softUndefined, "the collapse id is longer than 64 bytes: shorten it"),
        AnswerRow(.apnsHTTP2, 400, "BadExpirationDate", .permanent, failure: .softUndefined, "apns-expiration is malformed"),
        AnswerRow(.apnsHTTP2, 400, "BadMessageId", .permanent, failure: .softUndefined, "apns-id is no UUID"),
        AnswerRow(.apnsHTTP2, 400, "BadPriority", .permanent, failure: .softUndefined, "the priority is not 10, 5 or 1, or it is 10 for a background push: correct the delivery's content"),
        AnswerRow(.apnsHTTP2, 400, "InvalidPushType", .permanent, failure: .softUndefined, "the push type is unknown: correct the delivery's content"),
        AnswerRow(.apnsHTTP2, 400, "MissingDeviceToken", .permanent, failure: .softRefused, "the subscription's push token is empty"),
        AnswerRow(.apnsHTTP2, 400, "PayloadEmpty", .permanent, failure: .softUndefined, "the payload is empty: correct the delivery's content"),
        AnswerRow(.apnsHTTP2, 404, "BadPath", .permanent, token: .softError, doubtful: true, failure: .softRefused, "the path is malformed: the push token has a form that APNs refuses; when many are refused, check what proxies do"),
        AnswerRow(.apnsHTTP2, 413, "PayloadTooLarge", .permanent, failure: .softRefused, "the payload is larger than 4,096 bytes (VoIP 5,120): shorten the content"),
    ]

    /// What is said of the device.
    private static let apnsDevices: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadDeviceToken", .permanent, token: .invalid, failure: .hardUserUnknown, "the push token is invalid or of the other environment: Apple says never to send to it again (Adobe: soft, refused); when many are refused, no token is touched: check the application's environment"),
        AnswerRow(.apnsHTTP2, 400, "DeviceTokenNotForTopic", .permanent, token: .invalid, failure: .hardUserUnknown, "the push token belongs to another app: Apple says never to send to it again (Adobe: soft, refused); when many are refused, no token is touched: check the bundle id"),
        AnswerRow(.apnsHTTP2, 410, "ExpiredToken", .permanent, token: .invalidSinceTimestamp, failure: .hardUserUnknown, "the push token has expired"),
        AnswerRow(.apnsHTTP2, 410, "Unregistered", .permanent, token: .invalidSinceTimestamp, failure: .hardUserUnknown, "the app was removed from the device or takes no pushes any more"),
        // Only a device that is alive gets so many messages: the token is not counted.
        AnswerRow(.apnsHTTP2, 429, "TooManyRequests", .retry, fault: .message, failure: .softRefused, "too many messages to the same device one after the other: it is tried again later (Adobe: not at all)"),
    ]

    /// What spaces the attempts of a lone message while others pass, as Firebase asks for. Apple's 15 minutes ("After 15 minutes, you can
    /// retry JSON payloads that receive response status codes that begin with 5XX") are for those who do not probe: when APNs fails
    /// for all, nothing is sent but probes, and nobody waits a quarter of an hour for a gateway that is back.
    static let apnsServerDelay: Int32 = 10_000

    /// The gateway's trouble is not the token's: Adobe calls it soft, but the token is not counted.
    private static let apnsServer: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 500, "InternalServerError", .retry, fault: .server, connection: .replace, delay: apnsServerDelay, failure: .softRefused, "APNs has an internal error: the message is tried again later (Adobe: not at all)"),
        AnswerRow(.apnsHTTP2, 503, "ServiceUnavailable", .retry, delay: apnsServerDelay, failure: .softRefused, "APNs is unavailable for the moment: the message is tried again later (Adobe: not at all)"),
        AnswerRow(.apnsHTTP2, 503, "Shutdown", .retry, connection: .replace, delay: 0, failure: .softRefused, "the APNs server shuts down: the message is tried again on another connection"),
    ]
}

extension AnswerTable {
    /// What a row says of answers that are none of the gateway's.
    static let foreignExplanation =
        "an answer that the gateway does not give: a page of a proxy or load balancer, or nothing where an error in JSON should be. It says "
        + "nothing about the message. Check that the address is the gateway's and no proxy answers for it"
    /// What a row says of reasons that nobody knows.
    static let unknownExplanation =
        "an unknown reason to refuse the message (Adobe: not tried again); as it may be the content, the token is not counted. When many messages of a delivery get "
        + "it while others pass, the delivery is paused; a lone one fails in the end"

    /// Reasons that are not documented.
    static let apnsOtherResponses: [AnswerRow] = [
        malformed(.apnsHTTP2, "a 200 without the message's apns-id, or with a body: APNs did not give it"),
        AnswerRow(.apnsHTTP2, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation),
        AnswerRow(.apnsHTTP2, 300, "", .stopApplication, application: .stop, failure: .softRefused, "a redirection, which APNs never gives: check that the address is the gateway's and no proxy answers for it"),
        AnswerRow(.apnsHTTP2, 400, "", .retry, fault: .unknown, failure: .softRefused, unknownExplanation),
        // 401 and 403 are about who sends. Keeping messages back can be undone, failing all of them cannot.
        AnswerRow(.apnsHTTP2, 401, "", .stopApplication, application: .stop, failure: .softRefused, "the sender is not recognised: check the credential"),
        AnswerRow(.apnsHTTP2, 403, "", .stopApplication, application: .stop, failure: .softRefused, "the sender is not allowed, for an unknown reason: check the credential"),
        AnswerRow(.apnsHTTP2, 404, "", .permanent, doubtful: true, failure: .softRefused, "the path is unknown: when many are refused, check that the address is the gateway's"),
        AnswerRow(.apnsHTTP2, 405, "", .stopApplication, application: .stop, failure: .softRefused, "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
        AnswerRow(.apnsHTTP2, 408, "", .retry, failure: .softRefused, "the request timed out at the gateway"),
        AnswerRow(.apnsHTTP2, 410, "", .permanent, token: .softError, failure: .softRefused, "the push token is gone for an unknown reason; the token is kept, and counted"),
        AnswerRow(.apnsHTTP2, 429, "", .retry, failure: .softRefused, "too many requests"),
        AnswerRow(.apnsHTTP2, 500, "", .retry, fault: .server, delay: apnsServerDelay, failure: .softRefused, "an error of the gateway"),
    ]

    /// Messages without an answer, and messages that are not fit to be sent.
    static let apnsUnanswered: [AnswerRow] =
        http2Unanswered(.apnsHTTP2) + [
            AnswerRow(.apnsHTTP2, 0, "PayloadTooLarge", .permanent, source: .check, failure: .softRefused, "the payload is larger than 4,096 bytes (VoIP 5,120) with this subscription's values: shorten the content"),
            AnswerRow(.apnsHTTP2, 0, "FieldsUnreadable", .permanent, source: .check, failure: .softUndefined, "the target mapping's view cannot be read for this person, as the reason says: put the person's row there right, or the view"),
            AnswerRow(.apnsHTTP2, 0, "", .permanent, source: .check, failure: .softUndefined, "the message cannot be made of the content and this subscription's values: correct the delivery's content"),
        ]
}

extension AnswerTable {
    /// Reasons in the debug data of GOAWAY: Apple names the strings of its responses, and one more has been seen.
    ///
    /// What they mean for the sender they mean here too. A word about one message says nothing of the messages above the last stream
    /// id, which this is about: APNs has not looked at them.
    static let apnsGoAways: [AnswerRow] =
        apnsResponses.filter { !$0.reason.isEmpty }.map(goAway) + [
            goAway("Maximum active streams violated for this endpoint.", "the limit of concurrent streams was lowered while messages were on the wire"),
            goAway("", "APNs ended the connection for an unknown reason"),
        ]

    /// The GOAWAY with the reason of a response.
    private static func goAway(_ response: AnswerRow) -> AnswerRow {
        var row = goAway(response.reason, response.explanation)
        row.application = response.application
        switch response.outcomeClass {
        case .stopApplication: row.failure = response.failure
        case .permanent: row.explanation = "APNs ended the connection over one message: " + response.explanation
        case .retry: row.explanation = "APNs is in trouble and ended the connection"
        case .accepted, .unprocessed, .stopDelivery, .ambiguous: break
        }
        return row
    }

    private static func goAway(_ reason: String, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .apnsHTTP2,
            0,
            reason,
            .unprocessed,
            source: .goAway,
            connection: .replace,
            failure: .ignoredUnreachable,
            explanation
        )
    }
}

/// What is wrong with who sends, or with how. Adobe fails the message; here it stays pending, as every other one would be refused as
/// well and keeping messages back can be undone.
extension AnswerTable {
    /// The header fields are the same for all messages, so what is wrong with them is wrong with each of them.
    static let apnsSetup: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadTopic", .stopApplication, application: .stop, failure: .softRefused, "apns-topic is malformed: correct the application's bundle id"),
        AnswerRow(.apnsHTTP2, 400, "DuplicateHeaders", .stopApplication, application: .stop, failure: .softRefused, "a header was sent twice: check that no proxy between here and APNs adds one"),
        AnswerRow(.apnsHTTP2, 400, "IdleTimeout", .unprocessed, connection: .replace, failure: .ignoredUnreachable, "the connection was idle for too long"),
        AnswerRow(.apnsHTTP2, 400, "MissingTopic", .stopApplication, application: .stop, failure: .softRefused, "apns-topic is missing: set the application's bundle id"),
        AnswerRow(.apnsHTTP2, 400, "TopicDisallowed", .stopApplication, application: .stop, failure: .softRefused, "pushing to this topic is not allowed: check bundle id and push type against the credential"),
        AnswerRow(.apnsHTTP2, 405, "MethodNotAllowed", .stopApplication, application: .stop, failure: .softRefused, "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
    ]

    /// A message that is refused because of the provider token, and not of the key, was not looked at: it is sent again at no
    /// cost when there is a new one.
    static let apnsCredentials: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 403, "BadCertificate", .stopApplication, application: .stop, failure: .softRefused, "the certificate is invalid, expired or revoked: set a new one"),
        AnswerRow(.apnsHTTP2, 403, "BadCertificateEnvironment", .stopApplication, application: .stop, failure: .softRefused, "the certificate belongs to the other environment: set the one for this environment"),
        AnswerRow(.apnsHTTP2, 403, "ExpiredProviderToken", .unprocessed, connection: .replace, application: .renewToken, failure: .softRefused, "the provider token is older than an hour on Apple's clock: it is renewed; if this repeats, check the database host's clock"),
        AnswerRow(.apnsHTTP2, 403, "Forbidden", .stopApplication, application: .stop, failure: .softRefused, "the action is not allowed: check the key's rights in Apple's developer account"),
        AnswerRow(.apnsHTTP2, 403, "InvalidProviderToken", .stopApplication, application: .stop, failure: .softRefused, "APNs does not take the key's signature: check key id, team id, key and bundle id, and whether the key was revoked"),
        AnswerRow(.apnsHTTP2, 403, "MissingProviderToken", .stopApplication, application: .stop, failure: .softRefused, "neither a certificate nor a provider token arrived: set the application's credential"),
        AnswerRow(.apnsHTTP2, 403, "UnrelatedKeyIdInToken", .unprocessed, connection: .replace, failure: .softRefused, "the connection was opened with another key: a new connection is made"),
        AnswerRow(.apnsHTTP2, 403, "BadEnvironmentKeyIdInToken", .stopApplication, application: .stop, failure: .softRefused, "the key is restricted to the other environment: set a key for this environment"),
        AnswerRow(.apnsHTTP2, 429, "TooManyProviderTokenUpdates", .unprocessed, connection: .replace, failure: .softRefused, "the provider token changed more than once in 20 minutes on a connection: the token is kept, the connection replaced"),
    ]
}

extension AnswerTable {
    /// The condition of the rows for pushes whose type adds to the bundle id to make the topic, such as `.voip`.
    static let suffixedTopicCondition = "suffixed topic"

    /// What is said of a topic that is not the plain bundle id concerns that delivery, or that token for that topic: a push type
    /// has tokens of its own (PushKit, ActivityKit, WidgetKit), and the token of a subscription is that of its notifications as a
    /// rule. So none of it stops the application, and none of it takes a token from it.
    static let apnsSuffixedTopics: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadTopic", .stopDelivery, condition: suffixedTopicCondition, failure: .softRefused, "the topic of the delivery's push type is refused: the delivery is paused, other deliveries go on; check whether the app has this push type"),
        AnswerRow(.apnsHTTP2, 400, "TopicDisallowed", .stopDelivery, condition: suffixedTopicCondition, failure: .softRefused, "the credential may not send to the topic of the delivery's push type: the delivery is paused, other deliveries go on; set a token key (.p8), or a certificate that carries the topic"),
        tokenOfAnotherKind(400, "BadDeviceToken", doubtful: true, "the push token is none for this topic, as push types have tokens of their own"),
        tokenOfAnotherKind(400, "DeviceTokenNotForTopic", doubtful: true, "the push token is one for another topic, as push types have tokens of their own"),
        tokenOfAnotherKind(410, "ExpiredToken", doubtful: false, "the push token has expired for this topic"),
        tokenOfAnotherKind(410, "Unregistered", doubtful: false, "the push token is inactive for this topic, which says nothing of the app's other pushes"),
    ]

    /// An answer about a token and a topic that is not the plain bundle id.
    ///
    /// - Parameter doubtful: whether a delivery with tokens of the wrong kind meets it with every message.
    private static func tokenOfAnotherKind(
        _ status: Int16,
        _ reason: String,
        doubtful: Bool,
        _ cause: String
    ) -> AnswerRow {
        AnswerRow(
            .apnsHTTP2,
            status,
            reason,
            .permanent,
            condition: suffixedTopicCondition,
            doubtful: doubtful,
            failure: .softRefused,
            cause + ": the token is kept"
                + (doubtful
                    ? "; when no message of the delivery gets through, none fails and the delivery is paused" : "")
        )
    }
}
