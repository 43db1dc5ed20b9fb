import PushCore

/// The rows of one gateway, and the lookup of an answer's row.
package struct GatewayAnswers: Sendable {
    package let gateway: AnswerGateway
    package let rows: [AnswerRow]
    /// Whether it refuses credential or address with a page instead of an error in its own form.
    private let refusesWithPages: Bool
    private let index: [Key: AnswerRow]

    private struct Key: Hashable {
        var source: AnswerRow.Source
        var status: Int16
        var reason: String
        var condition: String
    }

    /// - Parameters:
    ///   - rows: the first of equal rows counts.
    ///   - refusesWithPages: whether it refuses credential or address with a page instead of an error in its own form.
    package init(_ gateway: AnswerGateway, _ rows: [AnswerRow], refusesWithPages: Bool = false) {
        self.gateway = gateway
        self.rows = rows
        self.refusesWithPages = refusesWithPages
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

    /// The meaning of a response other than a success. Without a reason, it is not in the gateway's own form.
    ///
    /// - Parameter condition: a condition that holds in addition to status and reason; empty for none.
    package func response(_ status: Int16, _ reason: String, _ condition: String = "") -> AnswerRow {
        if !condition.isEmpty, let row = row(.response, status, reason, condition) { return row }
        return reason.isEmpty
            ? other(status, isGatewaysForm: false)
            : row(.response, status, reason) ?? other(status, isGatewaysForm: true)
    }

    /// The row for a reason that is not in the table: by status, then by the status's hundreds, then the general one.
    ///
    /// - Parameter isGatewaysForm: whether the body is an error in the gateway's own form. A refusal without one comes
    ///   from a proxy or a load balancer and says nothing about message, credential or address. Without one, a gateway
    ///   may report its own failures (5xx, 408, 429); one that refuses with pages also a wrong credential or address.
    package func other(_ status: Int16, isGatewaysForm: Bool) -> AnswerRow {
        // The row of 200 means success and covers no other status.
        let hundreds = status / 100 * 100
        let known = row(.response, status, "") ?? (hundreds == 200 ? nil : row(.response, hundreds, ""))
        guard let known else { return foreign }
        let needsNoWords =
            known.outcomeClass == .accepted
            || known.outcomeClass == .retry && (known.fault == .gateway || known.fault == .server)
            || refusesWithPages && known.fault == .application
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

    /// The meaning of an answer with status 200 that the gateway did not give.
    package var malformed: AnswerRow { row(.response, 200, NoAnswerReason.malformed) ?? foreign }

    /// The meaning of a GOAWAY.
    ///
    /// - Parameter reason: what its debug data says.
    package func goAway(reason: String) -> AnswerRow { row(.goAway, 0, reason) ?? row(.goAway, 0, "") ?? foreign }

    /// The meaning of an endpoint for access tokens that issued none.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; 0 for no answer.
    ///   - error: its OAuth 2 error, empty if it gave none.
    package func tokenEndpoint(status: Int, error: String) -> AnswerRow {
        if let row = row(.tokenEndpoint, 0, error), !error.isEmpty { return row }
        let status = Int16(clamping: status)
        return row(.tokenEndpoint, status, "") ?? row(.tokenEndpoint, status / 100 * 100, "")
            ?? row(.tokenEndpoint, 0, "") ?? foreign
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

    /// The row that explains an outcome; nil if the gateway gives no such answer.
    package func row(of outcome: Outcome) -> AnswerRow? {
        let isAmbiguous = outcome.outcomeClass == .ambiguous
        if outcome.outcomeClass == .permanent, outcome.neverLeft { return check(reason: outcome.reason) }
        if outcome.outcomeClass == .unprocessed || isAmbiguous, outcome.status == 0 {
            return noAnswer(reason: outcome.reason, isWritten: isAmbiguous)
        }
        let rows = rows.lazy.filter { $0.source == .response && $0.status == outcome.status }
        return rows.first { $0.reason == outcome.reason && $0.outcomeClass == outcome.outcomeClass }
            ?? rows.first { $0.reason == outcome.reason } ?? rows.first { $0.reason.isEmpty }
    }
}
