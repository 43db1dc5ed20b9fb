import PushCore

extension AnswerTable {
    /// Every status and reason that Apple documents.
    static let apnsResponses: [AnswerRow] = apnsRejections + apnsCredentials + apnsDevices + apnsServer

    private static let apnsRejections: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 400, "BadCollapseId", .permanent, "the collapse id is longer than 64 bytes: shorten it"),
        AnswerRow(.apnsHTTP2, 400, "BadExpirationDate", .permanent, "apns-expiration is malformed"),
        AnswerRow(.apnsHTTP2, 400, "BadMessageId", .permanent, "apns-id is no UUID"),
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadPriority",
            .permanent,
            "the priority is not 10, 5 or 1, or it is 10 for a background push: correct the delivery's content"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadTopic",
            .stopApplication,
            application: .stop,
            "apns-topic is malformed: correct the application's bundle id"
        ),
        // The header fields are the same for all messages, so what is wrong with them is wrong with each of them.
        AnswerRow(
            .apnsHTTP2,
            400,
            "DuplicateHeaders",
            .stopApplication,
            application: .stop,
            "a header was sent twice: check that no proxy between here and APNs adds one"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "IdleTimeout",
            .unprocessed,
            connection: .replace,
            "the connection was idle for too long"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "InvalidPushType",
            .permanent,
            "the push type is unknown: correct the delivery's content"
        ),
        AnswerRow(.apnsHTTP2, 400, "MissingDeviceToken", .permanent, "the subscription's push token is empty"),
        AnswerRow(
            .apnsHTTP2,
            400,
            "MissingTopic",
            .stopApplication,
            application: .stop,
            "apns-topic is missing: set the application's bundle id"
        ),
        AnswerRow(.apnsHTTP2, 400, "PayloadEmpty", .permanent, "the payload is empty: correct the delivery's content"),
        AnswerRow(
            .apnsHTTP2,
            400,
            "TopicDisallowed",
            .stopApplication,
            application: .stop,
            "pushing to this topic is not allowed: check bundle id and push type against the credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            404,
            "BadPath",
            .permanent,
            doubtful: true,
            "the path is malformed: the push token has a form that APNs refuses"
        ),
        AnswerRow(
            .apnsHTTP2,
            405,
            "MethodNotAllowed",
            .stopApplication,
            application: .stop,
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
        AnswerRow(
            .apnsHTTP2,
            413,
            "PayloadTooLarge",
            .permanent,
            "the payload is larger than 4,096 bytes (VoIP 5,120): shorten the content"
        ),
    ]

    /// A message that is refused because of the provider token, and not of the key, was not looked at: it is sent again at no
    /// cost when there is a new one.
    private static let apnsCredentials: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            403,
            "BadCertificate",
            .stopApplication,
            application: .stop,
            "the certificate is invalid, expired or revoked: set a new one"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "BadCertificateEnvironment",
            .stopApplication,
            application: .stop,
            "the certificate belongs to the other environment: set the one for this environment"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "ExpiredProviderToken",
            .unprocessed,
            connection: .replace,
            application: .renewToken,
            "the provider token is older than an hour on Apple's clock: it is renewed; if this repeats, check the database host's clock"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "Forbidden",
            .stopApplication,
            application: .stop,
            "the action is not allowed: check the key's rights in Apple's developer account"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "InvalidProviderToken",
            .stopApplication,
            application: .stop,
            "APNs does not take the key's signature: check key id, team id, key and bundle id, and whether the key was revoked"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "MissingProviderToken",
            .stopApplication,
            application: .stop,
            "neither a certificate nor a provider token arrived: set the application's credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "UnrelatedKeyIdInToken",
            .unprocessed,
            connection: .replace,
            "the connection was opened with another key: a new connection is made"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "BadEnvironmentKeyIdInToken",
            .stopApplication,
            application: .stop,
            "the key is restricted to the other environment: set a key for this environment"
        ),
        AnswerRow(
            .apnsHTTP2,
            429,
            "TooManyProviderTokenUpdates",
            .unprocessed,
            connection: .replace,
            "the provider token changed more than once in 20 minutes on a connection: the token is kept, the connection replaced"
        ),
    ]

    private static let apnsDevices: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            400,
            "BadDeviceToken",
            .permanent,
            token: .invalid,
            "the push token is invalid or of the other environment: when many are refused, check the application's environment"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "DeviceTokenNotForTopic",
            .permanent,
            token: .invalid,
            "the push token belongs to another app: when many are refused, check the bundle id"
        ),
        AnswerRow(
            .apnsHTTP2,
            410,
            "ExpiredToken",
            .permanent,
            token: .invalidSinceTimestamp,
            "the push token has expired"
        ),
        AnswerRow(
            .apnsHTTP2,
            410,
            "Unregistered",
            .permanent,
            token: .invalidSinceTimestamp,
            "the app was removed from the device or takes no pushes any more"
        ),
        AnswerRow(
            .apnsHTTP2,
            429,
            "TooManyRequests",
            .retry,
            "too many messages to the same device one after the other"
        ),
    ]

    private static let apnsServer: [AnswerRow] = [
        AnswerRow(.apnsHTTP2, 500, "InternalServerError", .retry, connection: .replace, "APNs has an internal error"),
        AnswerRow(.apnsHTTP2, 503, "ServiceUnavailable", .retry, "APNs is unavailable for the moment"),
        AnswerRow(.apnsHTTP2, 503, "Shutdown", .retry, connection: .replace, delay: 0, "the APNs server shuts down"),
    ]
}
