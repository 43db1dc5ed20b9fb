import PushCore

/// What every answer of every gateway means, as data.
///
/// Sources: Apple, "Handling notification responses from APNs"; Firebase, "ErrorCode" and "Best practices when sending FCM
/// messages at scale"; Adobe, "Delivery failures" (push error types) for the failure types and reasons. Where sources
/// disagree, the row is the one that loses no token and sends nothing twice, and its explanation says so. Rows without a
/// reason are for reasons that are not in the table: these are kept word for word and classed by status.
public enum AnswerTable {
    /// All rows, those of a gateway together and by status.
    public static let rows: [AnswerRow] = apnsRows + apnsBinaryRows + fcmV1Rows + fcmLegacyRows

    struct Key: Hashable {
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

    /// The row of exactly this answer.
    static func row(
        _ gateway: AnswerGateway,
        _ source: AnswerRow.Source,
        _ status: Int16,
        _ reason: String,
        _ condition: String = ""
    ) -> AnswerRow? {
        index[Key(gateway: gateway, source: source, status: status, reason: reason, condition: condition)]
    }

    /// The row for a reason that is not in the table: by status, then by the status' hundreds, then for anything.
    static func other(_ gateway: AnswerGateway, _ status: Int16) -> AnswerRow {
        if let row = row(gateway, .response, status, "") { return row }
        // The row of 200 is success, and stands for itself alone.
        let hundreds = status / 100 * 100
        return hundreds == 200 ? unknown(gateway) : row(gateway, .response, hundreds, "") ?? unknown(gateway)
    }

    /// The row for what is no answer of a gateway at all.
    static func unknown(_ gateway: AnswerGateway) -> AnswerRow {
        row(gateway, .response, 0, "")
            ?? AnswerRow(gateway, 0, "", .retry, failure: .ignoredRefused, "an answer that no gateway gives")
    }
}
