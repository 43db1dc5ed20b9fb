import PushCore

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
