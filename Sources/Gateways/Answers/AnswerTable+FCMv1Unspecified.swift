import PushCore

extension AnswerTable {
    /// FCM's error code for "no more information is available": the status decides, as it does for an error without a code.
    static let fcmV1Unspecified: [AnswerRow] = fcmV1OtherResponses.compactMap { row in
        guard row.reason.isEmpty, unspecifiedStatuses.contains(row.status) else { return nil }
        var row = row
        row.reason = "UNSPECIFIED_ERROR"
        row.explanation = "FCM says no more than the status: " + row.explanation
        return row
    }

    /// The statuses that FCM documents for its other codes; 500 goes for 503, too, as their meaning is the same.
    private static let unspecifiedStatuses: Set<Int16> = [400, 401, 403, 404, 429, 500]
}
