import PushCore

/// What is wrong with who sends, or with how. Adobe fails the message; here it stays pending, as every other one would be refused as
/// well and keeping messages back can be undone.
extension AnswerTable {
    /// The header fields are the same for all messages, so what is wrong with them is wrong with each of them.
    static let apnsSetup: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadTopic",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "apns-topic is malformed: correct the application's bundle id"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "DuplicateHeaders",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "a header was sent twice: check that no proxy between here and APNs adds one"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "IdleTimeout",
            .unprocessed,
            connection: .replace,
            failure: .ignoredUnreachable,
            "the connection was idle for too long"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "MissingTopic",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "apns-topic is missing: set the application's bundle id"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "TopicDisallowed",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "pushing to this topic is not allowed: check bundle id and push type against the credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            405,
            "MethodNotAllowed",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
    ]

    /// A message that is refused because of the provider token, and not of the key, was not looked at: it is sent again at no
    /// cost when there is a new one.
    static let apnsCredentials: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            403,
            "BadCertificate",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the certificate is invalid, expired or revoked: set a new one"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "BadCertificateEnvironment",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the certificate belongs to the other environment: set the one for this environment"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "ExpiredProviderToken",
            .unprocessed,
            connection: .replace,
            application: .renewToken,
            failure: .softRefused,
            "the provider token is older than an hour on Apple's clock: it is renewed; if this repeats, check the database host's clock"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "Forbidden",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the action is not allowed: check the key's rights in Apple's developer account"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "InvalidProviderToken",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "APNs does not take the key's signature: check key id, team id, key and bundle id, and whether the key was revoked"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "MissingProviderToken",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "neither a certificate nor a provider token arrived: set the application's credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "UnrelatedKeyIdInToken",
            .unprocessed,
            connection: .replace,
            failure: .softRefused,
            "the connection was opened with another key: a new connection is made"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "BadEnvironmentKeyIdInToken",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the key is restricted to the other environment: set a key for this environment"
        ),
        AnswerRow(
            .apnsHTTP2,
            429,
            "TooManyProviderTokenUpdates",
            .unprocessed,
            connection: .replace,
            failure: .softRefused,
            "the provider token changed more than once in 20 minutes on a connection: the token is kept, the connection replaced"
        ),
    ]
}

extension AnswerTable {
    /// The condition of the rows for pushes whose type adds to the bundle id to make the topic, such as `.voip`.
    static let suffixedTopicCondition = "suffixed topic"

    /// What is said of a topic that is not the plain bundle id concerns that delivery, or that token for that topic: a push type
    /// has tokens of its own (PushKit, ActivityKit, WidgetKit), and the token of a subscription is that of its notifications as a
    /// rule. So none of it stops the application, and none of it takes a token from it.
    static let apnsSuffixedTopics: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadTopic",
            .stopDelivery,
            condition: suffixedTopicCondition,
            failure: .softRefused,
            "the topic of the delivery's push type is refused: the delivery is paused, other deliveries go on; check whether the app "
                + "has this push type"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "TopicDisallowed",
            .stopDelivery,
            condition: suffixedTopicCondition,
            failure: .softRefused,
            "the credential may not send to the topic of the delivery's push type: the delivery is paused, other deliveries go on; set "
                + "a token key (.p8), or a certificate that carries the topic"
        ),
        tokenOfAnotherKind(
            400,
            "BadDeviceToken",
            doubtful: true,
            "the push token is none for this topic, as push types have tokens of their own"
        ),
        tokenOfAnotherKind(
            400,
            "DeviceTokenNotForTopic",
            doubtful: true,
            "the push token is one for another topic, as push types have tokens of their own"
        ),
        tokenOfAnotherKind(410, "ExpiredToken", doubtful: false, "the push token has expired for this topic"),
        tokenOfAnotherKind(
            410,
            "Unregistered",
            doubtful: false,
            "the push token is inactive for this topic, which says nothing of the app's other pushes"
        ),
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
