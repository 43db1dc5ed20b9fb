// A table with one line per row, wider than other code.
// swift-format-ignore-file

import PushCore

extension GatewayAnswers {
    /// The answers of APNs over HTTP/2.
    package static let apnsHTTP2 = GatewayAnswers(.apnsHTTP2, AnswerTable.apnsRows)
}

extension AnswerTable {
    /// All rows of APNs over HTTP/2.
    static let apnsRows: [AnswerRow] =
        apnsResponses + apnsSuffixedTopics + apnsOtherResponses + apnsGoAways + apnsUnanswered

    /// Every status and reason that Apple documents.
    static let apnsResponses: [AnswerRow] =
        [apnsAccepted] + apnsRejections + apnsSetup + apnsCredentials + apnsDevices + apnsServer

    private static let apnsAccepted = AnswerRow(.apnsHTTP2, 200, "", .accepted, "APNs accepted the message; a device that is off or shows no notifications is not a failure")

    /// A fault in the message says nothing about its token. Adobe counts it as a soft error; we do not, because content
    /// that is wrong five times would cost every token that it was sent to.
    private static let apnsRejections: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadCollapseId", .permanent, failure: .softUndefined, "the collapse id is longer than 64 bytes: shorten it"),
        AnswerRow(.apnsHTTP2, 400, "BadExpirationDate", .permanent, failure: .softUndefined, "apns-expiration is malformed"),
        AnswerRow(.apnsHTTP2, 400, "BadMessageId", .permanent, failure: .softUndefined, "apns-id is not a UUID"),
        AnswerRow(.apnsHTTP2, 400, "BadPriority", .permanent, failure: .softUndefined, "the priority is not 10, 5 or 1, or it is 10 for a background push: correct the delivery's content"),
        AnswerRow(.apnsHTTP2, 400, "InvalidPushType", .permanent, failure: .softUndefined, "the push type is unknown: correct the delivery's content"),
        AnswerRow(.apnsHTTP2, 400, "MissingDeviceToken", .permanent, failure: .softRefused, "the subscription's push token is empty"),
        AnswerRow(.apnsHTTP2, 400, "PayloadEmpty", .permanent, failure: .softUndefined, "the payload is empty: correct the delivery's content"),
        AnswerRow(.apnsHTTP2, 404, "BadPath", .permanent, token: .softError, doubtful: true, failure: .softRefused, "the path is malformed: the push token has a form that APNs refuses; when many are refused, check what proxies do"),
        AnswerRow(.apnsHTTP2, 413, "PayloadTooLarge", .permanent, failure: .softRefused, "the payload is larger than 4,096 bytes (VoIP 5,120): shorten the content"),
    ]

    /// Answers about the device.
    private static let apnsDevices: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadDeviceToken", .permanent, token: .invalid, failure: .hardUserUnknown, "the push token is invalid or of the other environment: Apple: never send to it again (Adobe: soft, refused); when many are refused, no token is touched: check the application's environment"),
        AnswerRow(.apnsHTTP2, 400, "DeviceTokenNotForTopic", .permanent, token: .invalid, failure: .hardUserUnknown, "the push token belongs to another app: Apple: never send to it again (Adobe: soft, refused); when many are refused, no token is touched: check the bundle id"),
        AnswerRow(.apnsHTTP2, 410, "ExpiredToken", .permanent, token: .invalidSinceTimestamp, failure: .hardUserUnknown, "the push token has expired"),
        AnswerRow(.apnsHTTP2, 410, "Unregistered", .permanent, token: .invalidSinceTimestamp, failure: .hardUserUnknown, "the app was removed from the device or no longer accepts pushes"),
        // Only a live device gets this many messages: the token is not counted.
        AnswerRow(.apnsHTTP2, 429, "TooManyRequests", .retry, fault: .message, failure: .softRefused, "too many messages in a row to the same device: it is tried again later (Adobe: never)"),
    ]

    /// The pause between the attempts of a single message while others pass, as Firebase asks for. Apple names 15
    /// minutes ("After 15 minutes, you can retry JSON payloads that receive response status codes that begin with
    /// 5XX"), which suits senders that do not probe. When APNs fails for all messages, only probes are sent, so no
    /// message waits a quarter of an hour for a gateway that has recovered.
    static let apnsServerDelay: Int32 = 10_000

    /// The gateway's trouble is not the token's fault. Adobe counts it as a soft error; we do not.
    private static let apnsServer: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 500, "InternalServerError", .retry, fault: .server, connection: .replace, delay: apnsServerDelay, failure: .softRefused, "APNs has an internal error: the message is tried again later (Adobe: never)"),
        AnswerRow(.apnsHTTP2, 503, "ServiceUnavailable", .retry, delay: apnsServerDelay, failure: .softRefused, "APNs is temporarily unavailable: the message is tried again later (Adobe: never)"),
        AnswerRow(.apnsHTTP2, 503, "Shutdown", .retry, connection: .replace, delay: 0, failure: .softRefused, "the APNs server is shutting down: the message is tried again on another connection"),
    ]
}

extension AnswerTable {
    /// The explanation of answers that the gateway did not give.
    static let foreignExplanation =
        "an answer that the gateway does not give: a page of a proxy or load balancer, or nothing where an error in JSON should be. It says "
        + "nothing about the message. Check that the address is the gateway's and no proxy answers for it"
    /// The explanation of unknown reasons.
    static let unknownExplanation =
        "refused for an unknown reason (Adobe: not tried again); the content may be the cause, so the token is not counted. When many messages of a delivery get "
        + "it while others pass, the delivery is paused; a single one finally fails"

    /// Undocumented reasons.
    static let apnsOtherResponses: [AnswerRow] = [
        malformed(.apnsHTTP2, "a 200 without the message's apns-id, or with a body: APNs did not give it"),
        AnswerRow(.apnsHTTP2, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation),
        AnswerRow(.apnsHTTP2, 300, "", .stopApplication, application: .stop, failure: .softRefused, "a redirection, which APNs never gives: check that the address is the gateway's and no proxy answers for it"),
        AnswerRow(.apnsHTTP2, 400, "", .retry, fault: .unknown, failure: .softRefused, unknownExplanation),
        // 401 and 403 concern the sender. Holding messages back can be undone; failing all of them cannot.
        AnswerRow(.apnsHTTP2, 401, "", .stopApplication, application: .stop, failure: .softRefused, "the sender is not recognised: check the credential"),
        AnswerRow(.apnsHTTP2, 403, "", .stopApplication, application: .stop, failure: .softRefused, "the sender is not allowed, for an unknown reason: check the credential"),
        AnswerRow(.apnsHTTP2, 404, "", .permanent, doubtful: true, failure: .softRefused, "the path is unknown: when many are refused, check that the address is the gateway's"),
        AnswerRow(.apnsHTTP2, 405, "", .stopApplication, application: .stop, failure: .softRefused, "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
        AnswerRow(.apnsHTTP2, 408, "", .retry, failure: .softRefused, "the request timed out at the gateway"),
        AnswerRow(.apnsHTTP2, 410, "", .permanent, token: .softError, failure: .softRefused, "the push token is gone for an unknown reason; the token is kept, and counted"),
        AnswerRow(.apnsHTTP2, 429, "", .retry, failure: .softRefused, "too many requests"),
        AnswerRow(.apnsHTTP2, 500, "", .retry, fault: .server, delay: apnsServerDelay, failure: .softRefused, "an error of the gateway"),
    ]

    /// Messages without an answer, and messages that cannot be sent.
    static let apnsUnanswered: [AnswerRow] =
        http2Unanswered(.apnsHTTP2) + [
            AnswerRow(.apnsHTTP2, 0, "PayloadTooLarge", .permanent, source: .check, failure: .softRefused, "the payload is larger than 4,096 bytes (VoIP 5,120) with this subscription's values: shorten the content"),
            AnswerRow(.apnsHTTP2, 0, "FieldsUnreadable", .permanent, source: .check, failure: .softUndefined, "the target mapping's view cannot be read for this person; the reason says why: correct the person's row or the view"),
            AnswerRow(.apnsHTTP2, 0, "", .permanent, source: .check, failure: .softUndefined, "the message cannot be rendered from the content and this subscription's values: correct the delivery's content"),
        ]
}

extension AnswerTable {
    /// Reasons in the debug data of GOAWAY: Apple names the strings of its responses, and one more has been seen.
    ///
    /// Reasons about the sender mean the same here as in a response. A reason about one message says nothing about the
    /// messages above the last stream id, which these rows classify: APNs has not processed them.
    static let apnsGoAways: [AnswerRow] =
        apnsResponses.filter { !$0.reason.isEmpty }.map(goAway) + [
            goAway("Maximum active streams violated for this endpoint.", "the limit of concurrent streams was lowered while messages were on the wire"),
            goAway("", "APNs ended the connection for an unknown reason"),
        ]

    /// The row of a GOAWAY that gives a response's reason.
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

/// Faults of the sender or of how it sends. Adobe fails the message. Here it stays pending: APNs would refuse every
/// other message too, and holding messages back can be undone.
extension AnswerTable {
    /// All messages share the header fields, so a fault in them affects every message.
    static let apnsSetup: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadTopic", .stopApplication, application: .stop, failure: .softRefused, "apns-topic is malformed: correct the application's bundle id"),
        AnswerRow(.apnsHTTP2, 400, "DuplicateHeaders", .stopApplication, application: .stop, failure: .softRefused, "a header was sent twice: check that no proxy between here and APNs adds one"),
        AnswerRow(.apnsHTTP2, 400, "IdleTimeout", .unprocessed, connection: .replace, failure: .ignoredUnreachable, "the connection was idle for too long"),
        AnswerRow(.apnsHTTP2, 400, "MissingTopic", .stopApplication, application: .stop, failure: .softRefused, "apns-topic is missing: set the application's bundle id"),
        AnswerRow(.apnsHTTP2, 400, "TopicDisallowed", .stopApplication, application: .stop, failure: .softRefused, "pushing to this topic is not allowed: check bundle id and push type against the credential"),
        AnswerRow(.apnsHTTP2, 405, "MethodNotAllowed", .stopApplication, application: .stop, failure: .softRefused, "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"),
    ]

    /// APNs did not process a message that it refused because of the provider token rather than the key. It is sent
    /// again with a new token and loses no attempt.
    static let apnsCredentials: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 403, "BadCertificate", .stopApplication, application: .stop, failure: .softRefused, "the certificate is invalid, expired or revoked: set a new one"),
        AnswerRow(.apnsHTTP2, 403, "BadCertificateEnvironment", .stopApplication, application: .stop, failure: .softRefused, "the certificate belongs to the other environment: set the one for this environment"),
        AnswerRow(.apnsHTTP2, 403, "ExpiredProviderToken", .unprocessed, connection: .replace, application: .renewToken, failure: .softRefused, "the provider token is older than an hour on Apple's clock: it is renewed; if this repeats, check the database host's clock"),
        AnswerRow(.apnsHTTP2, 403, "Forbidden", .stopApplication, application: .stop, failure: .softRefused, "the action is not allowed: check the key's rights in Apple's developer account"),
        AnswerRow(.apnsHTTP2, 403, "InvalidProviderToken", .stopApplication, application: .stop, failure: .softRefused, "APNs does not accept the key's signature: check key id, team id, key and bundle id, and whether the key was revoked"),
        AnswerRow(.apnsHTTP2, 403, "MissingProviderToken", .stopApplication, application: .stop, failure: .softRefused, "neither a certificate nor a provider token arrived: set the application's credential"),
        AnswerRow(.apnsHTTP2, 403, "UnrelatedKeyIdInToken", .unprocessed, connection: .replace, failure: .softRefused, "the connection was opened with another key: a new connection is opened"),
        AnswerRow(.apnsHTTP2, 403, "BadEnvironmentKeyIdInToken", .stopApplication, application: .stop, failure: .softRefused, "the key is restricted to the other environment: set a key for this environment"),
        AnswerRow(.apnsHTTP2, 429, "TooManyProviderTokenUpdates", .unprocessed, connection: .replace, failure: .softRefused, "the provider token changed more than once in 20 minutes on a connection: the token is kept, the connection replaced"),
    ]
}

extension AnswerTable {
    /// The condition of the rows for pushes whose type adds to the bundle id to make the topic, such as `.voip`.
    static let suffixedTopicCondition = "suffixed topic"

    /// An answer about a topic other than the plain bundle id concerns only that delivery, or that token for that
    /// topic. A push type has its own tokens (PushKit, ActivityKit, WidgetKit), while a subscription's token is usually
    /// the one for its notifications. So these answers neither stop the application nor invalidate a token.
    static let apnsSuffixedTopics: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadTopic", .stopDelivery, condition: suffixedTopicCondition, failure: .softRefused, "the topic of the delivery's push type is refused: the delivery is paused, other deliveries continue; check whether the app has this push type"),
        AnswerRow(.apnsHTTP2, 400, "TopicDisallowed", .stopDelivery, condition: suffixedTopicCondition, failure: .softRefused, "the credential may not send to the topic of the delivery's push type: the delivery is paused, other deliveries continue; set a token key (.p8), or a certificate that carries the topic"),
        tokenOfAnotherKind(400, "BadDeviceToken", doubtful: true, "the push token is not one for this topic, as each push type has its own tokens"),
        tokenOfAnotherKind(400, "DeviceTokenNotForTopic", doubtful: true, "the push token is for another topic, as each push type has its own tokens"),
        tokenOfAnotherKind(410, "ExpiredToken", doubtful: false, "the push token has expired for this topic"),
        tokenOfAnotherKind(410, "Unregistered", doubtful: false, "the push token is inactive for this topic, which says nothing of the app's other pushes"),
    ]

    /// An answer about a token and a topic that is not the plain bundle id.
    ///
    /// - Parameter doubtful: whether a delivery with tokens of the wrong kind gets this answer for every message.
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
