import PushCore

/// The rows of one gateway, and the lookup of an answer's row.
package struct GatewayAnswers: Sendable {
    package let gateway: AnswerGateway
    package let rows: [AnswerRow]
    private let index: [Key: AnswerRow]

    private struct Key: Hashable {
        var source: AnswerRow.Source
        var status: Int16
        var reason: String
        var condition: String
    }

    /// - Parameter rows: the first of equal rows counts.
    package init(_ gateway: AnswerGateway, _ rows: [AnswerRow]) {
        self.gateway = gateway
        self.rows = rows
        var index: [Key: AnswerRow] = [:]
        for row in rows {
            let key = Key(source: row.source, status: row.status, reason: row.reason, condition: row.condition)
            index[key] = index[key] ?? row
        }
        self.index = index
    }

    /// The row of exactly this answer.
    package func row(
        _ source: AnswerRow.Source,
        _ status: Int16,
        _ reason: String,
        _ condition: String = ""
    ) -> AnswerRow? {
        index[Key(source: source, status: status, reason: reason, condition: condition)]
    }

    /// The row for a reason that is not in the table: by status, then by the status's hundreds, then the general one.
    ///
    /// - Parameter isGatewaysForm: whether the body is an error in the gateway's own JSON. A refusal without one comes
    ///   from a proxy or a load balancer and says nothing about message, credential or address. A gateway may report
    ///   only its own failures (5xx, 408, 429) without a body. Legacy FCM reports a wrong key or address as an HTML
    ///   page.
    package func other(_ status: Int16, isGatewaysForm: Bool) -> AnswerRow {
        // The row of 200 means success and covers no other status.
        let hundreds = status / 100 * 100
        let known = row(.response, status, "") ?? (hundreds == 200 ? nil : row(.response, hundreds, ""))
        guard let known else { return foreign }
        let needsNoWords =
            known.outcomeClass == .accepted
            || known.outcomeClass == .retry && (known.fault == .gateway || known.fault == .server)
            || gateway == .fcmLegacy && known.fault == .application
        return isGatewaysForm || needsNoWords ? known : foreign
    }

    /// The row for an answer that the gateway did not give.
    package var foreign: AnswerRow {
        row(.response, 0, "")
            ?? AnswerRow(
                gateway,
                0,
                "",
                .retry,
                fault: .foreign,
                failure: .ignoredRefused,
                AnswerTable.foreignExplanation
            )
    }

    /// The meaning of a message that ended without an answer.
    ///
    /// - Parameters:
    ///   - reason: the recorded reason; the word before its colon is looked up.
    ///   - isWritten: the message may have reached the gateway.
    package func noAnswer(reason: String, isWritten: Bool) -> AnswerRow {
        let condition = isWritten ? AnswerTable.writtenCondition : ""
        let word = String(reason.prefix { $0 != ":" })
        return row(.noAnswer, 0, word, condition) ?? row(.noAnswer, 0, "", condition) ?? foreign
    }

    /// The meaning of a message that cannot be sent at all.
    ///
    /// - Parameter reason: the recorded reason; the word before its colon is looked up.
    package func check(reason: String) -> AnswerRow {
        let word = reason.prefix { $0 != ":" }
        return row(.check, 0, String(word)) ?? row(.check, 0, "") ?? foreign
    }
}
