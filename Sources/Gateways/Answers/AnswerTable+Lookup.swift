import PushCore

/// Finding the row of an answer.
extension AnswerTable {
    /// What an APNs response other than 200 means.
    ///
    /// - Parameter isSuffixed: the message's topic is not the plain bundle id, but has its push type's suffix.
    public static func apns(status: Int16, reason: String, isSuffixed: Bool = false) -> AnswerRow {
        if isSuffixed, let row = row(.apnsHTTP2, .response, status, reason, suffixedTopicCondition) { return row }
        return reason.isEmpty
            ? other(.apnsHTTP2, status, isGatewaysForm: false)
            : row(.apnsHTTP2, .response, status, reason) ?? other(.apnsHTTP2, status, isGatewaysForm: true)
    }

    /// What a GOAWAY of APNs means; the reason is that of its JSON debug data, or the debug data itself.
    public static func apnsGoAway(reason: String) -> AnswerRow {
        row(.apnsHTTP2, .goAway, 0, reason) ?? row(.apnsHTTP2, .goAway, 0, "") ?? foreign(.apnsHTTP2)
    }

    /// What an FCM HTTP v1 response other than 200 means.
    ///
    /// - Parameters:
    ///   - reason: the FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text.
    ///   - tokenAtFault: whether the error names the field `message.token`.
    public static func fcmV1(status: Int16, reason: String, tokenAtFault: Bool = false) -> AnswerRow {
        if tokenAtFault, let row = row(.fcmV1, .response, status, reason, tokenAtFaultCondition) { return row }
        return reason.isEmpty
            ? other(.fcmV1, status, isGatewaysForm: false)
            : row(.fcmV1, .response, status, reason) ?? other(.fcmV1, status, isGatewaysForm: true)
    }

    /// What a GOAWAY of FCM means; the reason is its debug data.
    public static func fcmV1GoAway(reason: String) -> AnswerRow {
        row(.fcmV1, .goAway, 0, reason) ?? row(.fcmV1, .goAway, 0, "") ?? foreign(.fcmV1)
    }

    /// What it means that a message ended without an answer.
    ///
    /// - Parameter isWritten: the message may have reached the gateway.
    public static func noAnswer(_ gateway: AnswerGateway, reason: String, isWritten: Bool) -> AnswerRow {
        let condition = isWritten ? writtenCondition : ""
        return row(gateway, .noAnswer, 0, reason, condition) ?? row(gateway, .noAnswer, 0, "", condition)
            ?? foreign(gateway)
    }

    /// What it means that a message is not fit to be sent at all.
    ///
    /// - Parameter reason: the recorded reason; the word before its colon is looked up.
    public static func check(_ gateway: AnswerGateway, reason: String) -> AnswerRow {
        let word = reason.prefix { $0 != ":" }
        return row(gateway, .check, 0, String(word)) ?? row(gateway, .check, 0, "") ?? foreign(gateway)
    }

    /// What it means that the endpoint of access tokens gave none.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; 0 for no answer.
    ///   - error: its OAuth 2 error, empty if it gave none.
    public static func tokenEndpoint(_ gateway: AnswerGateway, status: Int, error: String) -> AnswerRow {
        if let row = row(gateway, .tokenEndpoint, 0, error), !error.isEmpty { return row }
        let status = Int16(clamping: status)
        return row(gateway, .tokenEndpoint, status, "") ?? row(gateway, .tokenEndpoint, status / 100 * 100, "")
            ?? row(gateway, .tokenEndpoint, 0, "") ?? foreign(gateway)
    }

    /// The condition of the rows for messages that may have reached the gateway.
    static let writtenCondition = "written"
}
