import PushCore

extension AnswerTable {
    /// Reasons in the debug data of GOAWAY: Apple names the strings of its responses, and one more has been seen.
    ///
    /// What they mean for the sender they mean here too. A word about one message says nothing of the messages above the last stream
    /// id, which this is about: APNs has not looked at them.
    static let apnsGoAways: [AnswerRow] =
        apnsResponses.filter { !$0.reason.isEmpty }.map(goAway) + [
            goAway(
                "Maximum active streams violated for this endpoint.",
                "the limit of concurrent streams was lowered while messages were on the wire"
            ),
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
