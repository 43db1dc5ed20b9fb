import PushCore

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
        AnswerRow(
            .apnsHTTP2,
            0,
            "",
            .retry,
            fault: .foreign,
            failure: .ignoredRefused,
            foreignExplanation
        ),
        AnswerRow(
            .apnsHTTP2,
            300,
            "",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "a redirection, which APNs never gives: check that the address is the gateway's and no proxy answers for it"
        ),
        AnswerRow(
            .apnsHTTP2,
            400,
            "",
            .retry,
            fault: .unknown,
            failure: .softRefused,
            unknownExplanation
        ),
        // 401 and 403 are about who sends. Keeping messages back can be undone, failing all of them cannot.
        AnswerRow(
            .apnsHTTP2,
            401,
            "",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the sender is not recognised: check the credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the sender is not allowed, for an unknown reason: check the credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            404,
            "",
            .permanent,
            doubtful: true,
            failure: .softRefused,
            "the path is unknown: when many are refused, check that the address is the gateway's"
        ),
        AnswerRow(
            .apnsHTTP2,
            405,
            "",
            .stopApplication,
            application: .stop,
            failure: .softRefused,
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
        AnswerRow(.apnsHTTP2, 408, "", .retry, failure: .softRefused, "the request timed out at the gateway"),
        AnswerRow(
            .apnsHTTP2,
            410,
            "",
            .permanent,
            token: .softError,
            failure: .softRefused,
            "the push token is gone for an unknown reason; the token is kept, and counted"
        ),
        AnswerRow(.apnsHTTP2, 429, "", .retry, failure: .softRefused, "too many requests"),
        AnswerRow(
            .apnsHTTP2,
            500,
            "",
            .retry,
            delay: apnsServerDelay,
            failure: .softRefused,
            "an error of the gateway"
        ),
    ]

    /// Messages without an answer, and messages that are not fit to be sent.
    static let apnsUnanswered: [AnswerRow] =
        http2Unanswered(.apnsHTTP2) + [
            AnswerRow(
                .apnsHTTP2,
                0,
                "PayloadTooLarge",
                .permanent,
                source: .check,
                failure: .softRefused,
                "the payload is larger than 4,096 bytes (VoIP 5,120) with this subscription's values: shorten the content"
            ),
            AnswerRow(
                .apnsHTTP2,
                0,
                "FieldsUnreadable",
                .permanent,
                source: .check,
                failure: .softUndefined,
                "the target mapping's view cannot be read for this person, as the reason says: put the person's row there right, or the view"
            ),
            AnswerRow(
                .apnsHTTP2,
                0,
                "",
                .permanent,
                source: .check,
                failure: .softUndefined,
                "the message cannot be made of the content and this subscription's values: correct the delivery's content"
            ),
        ]
}
