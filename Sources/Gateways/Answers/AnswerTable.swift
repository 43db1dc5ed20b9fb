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
    ///
    /// - Parameter isGatewaysForm: whether the body is an error in the gateway's own JSON. Without one a refusal says nothing about the
    ///   message: a proxy or a load balancer has given it.
    static func other(_ gateway: AnswerGateway, _ status: Int16, isGatewaysForm: Bool) -> AnswerRow {
        // The row of 200 is success, and stands for itself alone.
        let hundreds = status / 100 * 100
        let known =
            row(gateway, .response, status, "") ?? (hundreds == 200 ? nil : row(gateway, .response, hundreds, ""))
        guard let known, isGatewaysForm || known.fault != .message && known.fault != .unknown else {
            return foreign(gateway)
        }
        return known
    }

    /// The row for what is no answer of a gateway at all.
    static func foreign(_ gateway: AnswerGateway) -> AnswerRow {
        row(gateway, .response, 0, "")
            ?? AnswerRow(gateway, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation)
    }
}
