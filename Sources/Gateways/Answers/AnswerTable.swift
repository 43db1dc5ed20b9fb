import PushCore

/// What every answer of every gateway means, as data.
///
/// Sources: Apple, "Handling notification responses from APNs"; Firebase, "ErrorCode" and "Best practices when sending FCM
/// messages at scale". Where sources disagree, the row is the one that loses no token and sends nothing twice. Rows without
/// a reason are for reasons that are not in the table: these are kept word for word and classed by status.
public enum AnswerTable {
    /// All rows, those of a gateway together and by status.
    public static let rows: [AnswerRow] =
        apnsResponses + apnsOtherResponses + apnsGoAways + fcmV1Responses + fcmV1OtherResponses + fcmV1GoAways

    private struct Key: Hashable {
        var gateway: AnswerGateway
        var source: AnswerRow.Source
        var status: Int16
        var reason: String
        var condition: String
    }

    private static let index: [Key: AnswerRow] = {
        var index: [Key: AnswerRow] = [:]
        for row in rows {
            let key = Key(
                gateway: row.gateway,
                source: row.source,
                status: row.status,
                reason: row.reason,
                condition: row.condition
            )
            index[key] = index[key] ?? row
        }
        return index
    }()

    private static func row(
        _ gateway: AnswerGateway,
        _ source: AnswerRow.Source,
        _ status: Int16,
        _ reason: String,
        _ condition: String = ""
    ) -> AnswerRow? {
        index[Key(gateway: gateway, source: source, status: status, reason: reason, condition: condition)]
    }

    /// What an APNs response other than 200 means.
    public static func apns(status: Int16, reason: String) -> AnswerRow {
        row(.apnsHTTP2, .response, status, reason) ?? other(.apnsHTTP2, status)
    }

    /// What a GOAWAY of APNs means; the reason is that of its JSON debug data, or the debug data itself.
    public static func apnsGoAway(reason: String) -> AnswerRow {
        row(.apnsHTTP2, .goAway, 0, reason) ?? row(.apnsHTTP2, .goAway, 0, "") ?? unknown(.apnsHTTP2)
    }

    /// What an FCM HTTP v1 response other than 200 means.
    ///
    /// - Parameters:
    ///   - reason: the FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text.
    ///   - tokenAtFault: whether the error names the field `message.token`.
    public static func fcmV1(status: Int16, reason: String, tokenAtFault: Bool = false) -> AnswerRow {
        if tokenAtFault, let row = row(.fcmV1, .response, status, reason, tokenAtFaultCondition) { return row }
        return row(.fcmV1, .response, status, reason) ?? other(.fcmV1, status)
    }

    /// What a GOAWAY of FCM means; the reason is its debug data.
    public static func fcmV1GoAway(reason: String) -> AnswerRow {
        row(.fcmV1, .goAway, 0, reason) ?? row(.fcmV1, .goAway, 0, "") ?? unknown(.fcmV1)
    }

    /// The row for a reason that is not in the table: by status, then by the status' hundreds, then for anything.
    private static func other(_ gateway: AnswerGateway, _ status: Int16) -> AnswerRow {
        row(gateway, .response, status, "") ?? row(gateway, .response, status / 100 * 100, "") ?? unknown(gateway)
    }

    private static func unknown(_ gateway: AnswerGateway) -> AnswerRow {
        AnswerRow(
            gateway,
            0,
            "",
            .retry,
            "an answer outside of HTTP's error statuses: check that the address is the gateway's and no proxy answers for it"
        )
    }
}
