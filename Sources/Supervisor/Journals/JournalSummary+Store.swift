import PushCore
import Store

extension PartRecovery {
    /// What the next owner of a part has to know of its messages.
    init(_ findings: JournalSummary.Findings) {
        self.init(
            ambiguous: findings.ambiguous,
            softAnswers: findings.softAnswers.map { answer in
                SoftAnswer(
                    sequence: answer.sequence,
                    attempt: answer.attempt,
                    httpStatus: answer.status,
                    reason: answer.reason,
                    notBefore: answer.notBeforeMilliseconds.map {
                        DatabaseTime(microsecondsSince1970: $0 &* 1_000)
                    }
                )
            }
        )
    }
}

extension OutcomeBatch {
    /// Final answers of one part, out of a journal; whose they are the store reads from the part's target.
    init(_ holding: JournalSummary.Holding, _ facts: some Collection<JournalAnswer>) {
        self.init(capacity: facts.count)
        for fact in facts {
            append(
                part: holding.part,
                token: holding.token,
                sequence: fact.sequence,
                subscriptionID: 0,
                status: fact.outcomeClass == .accepted ? .sent : .failed,
                httpStatus: fact.status,
                reason: fact.reason,
                gatewayMessageID: fact.gatewayMessageID,
                attempt: fact.attempt,
                tokenEffect: fact.tokenEffect,
                failure: fact.failure,
                healsErrors: fact.healsErrors
            )
        }
    }
}
