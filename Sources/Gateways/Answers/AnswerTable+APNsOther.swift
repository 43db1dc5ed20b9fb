import PushCore

extension AnswerTable {
    /// Reasons that are not documented.
    static let apnsOtherResponses: [AnswerRow] = [
        AnswerRow(
            .apnsHTTP2,
            300,
            "",
            .stopApplication,
            application: .stop,
            "a redirection, which APNs never gives: check that the address is the gateway's and no proxy answers for it"
        ),
        AnswerRow(.apnsHTTP2, 400, "", .permanent, "an unknown reason to refuse the message"),
        // 401 and 403 are about who sends. Keeping messages back can be undone, failing all of them cannot.
        AnswerRow(
            .apnsHTTP2,
            401,
            "",
            .stopApplication,
            application: .stop,
            "the sender is not recognised: check the credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            403,
            "",
            .stopApplication,
            application: .stop,
            "the sender is not allowed, for an unknown reason: check the credential"
        ),
        AnswerRow(
            .apnsHTTP2,
            404,
            "",
            .permanent,
            doubtful: true,
            "the path is unknown: when many are refused, check that the address is the gateway's"
        ),
        AnswerRow(
            .apnsHTTP2,
            405,
            "",
            .stopApplication,
            application: .stop,
            "the request was not a POST when it arrived: check that the address is the gateway's and what proxies do"
        ),
        AnswerRow(.apnsHTTP2, 408, "", .retry, "the request timed out at the gateway"),
        AnswerRow(.apnsHTTP2, 410, "", .permanent, "the push token is gone for an unknown reason; the token is kept"),
        AnswerRow(.apnsHTTP2, 429, "", .retry, "too many requests"),
        AnswerRow(.apnsHTTP2, 500, "", .retry, "an error of the gateway"),
    ]

    /// Reasons in the debug data of GOAWAY.
    static let apnsGoAways: [AnswerRow] =
        apnsResponses.filter { $0.application == .stop }.map { row in
            var row = row
            row.source = .goAway
            row.status = 0
            row.outcomeClass = .unprocessed
            row.connection = .replace
            return row
        } + [
            AnswerRow(
                .apnsHTTP2,
                0,
                "IdleTimeout",
                .unprocessed,
                source: .goAway,
                connection: .replace,
                "the connection was idle for too long"
            ),
            AnswerRow(
                .apnsHTTP2,
                0,
                "Shutdown",
                .unprocessed,
                source: .goAway,
                connection: .replace,
                "the APNs server shuts down"
            ),
            AnswerRow(
                .apnsHTTP2,
                0,
                "Maximum active streams violated for this endpoint.",
                .unprocessed,
                source: .goAway,
                connection: .replace,
                "the limit of concurrent streams was lowered while messages were on the wire"
            ),
            AnswerRow(
                .apnsHTTP2,
                0,
                "",
                .unprocessed,
                source: .goAway,
                connection: .replace,
                "APNs ended the connection for an unknown reason"
            ),
        ]
}
