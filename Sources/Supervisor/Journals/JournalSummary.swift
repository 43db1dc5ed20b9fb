import PushCore
import Store

/// What a dead child's journal says about each part it held: facts to store, and messages still open.
struct JournalSummary: Sendable {
    /// The state of one part's messages, as far as the journal knows.
    struct Results: Sendable, Equatable {
        /// Messages that were about to be sent and have no known answer, in ascending order.
        var ambiguous: [Int32] = []
        /// Final answers, in ascending order of their sequence numbers.
        var facts: [JournalAnswer] = []
        /// Answers after which the message is sent again.
        var softAnswers: [JournalAnswer] = []
    }

    private enum MessageState {
        case underWay
        case answered(JournalAnswer)
        /// The gateway has not taken it; it counts as never sent.
        case unsent
    }

    private var messages: [PartToken: [Int32: MessageState]] = [:]
    /// The parts that the journal mentions and that were not closed.
    var claims: Set<PartToken> { Set(messages.keys) }
    var isEmpty: Bool { messages.isEmpty }

    /// Takes the next record in the journal's order; a later record about the same message replaces an earlier one.
    mutating func add(_ record: JournalRecord) {
        switch record {
        case .intent(let part, let token, let ranges):
            let claim = PartToken(part: part, token: token)
            for range in ranges {
                for sequence in range { messages[claim, default: [:]][sequence] = .underWay }
            }
        case .answers(let part, let token, _, let answers):
            let claim = PartToken(part: part, token: token)
            for answer in answers { messages[claim, default: [:]][answer.sequence] = Self.state(answer) }
        case .closed(let part, let token):
            messages[PartToken(part: part, token: token)] = nil
        }
    }

    private static func state(_ answer: JournalAnswer) -> MessageState {
        switch answer.outcomeClass {
        case .accepted, .permanent, .retry: .answered(answer)
        case .ambiguous: .underWay
        // A problem of the application or the delivery, not of the message: the message waits as if it had not been
        // sent.
        case .unprocessed, .stopApplication, .stopDelivery: .unsent
        }
    }

    /// The results for one part; empty if the journal does not mention it.
    func results(_ claim: PartToken) -> Results {
        var results = Results()
        for (sequence, state) in (messages[claim] ?? [:]).sorted(by: { $0.key < $1.key }) {
            switch state {
            case .underWay: results.ambiguous.append(sequence)
            case .unsent: continue
            case .answered(let answer) where answer.outcomeClass == .retry: results.softAnswers.append(answer)
            case .answered(let answer): results.facts.append(answer)
            }
        }
        return results
    }
}

extension PartRecovery {
    /// What the next owner of a part must know about its messages.
    init(_ results: JournalSummary.Results) {
        self.init(
            ambiguous: results.ambiguous,
            softAnswers: results.softAnswers.map { answer in
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
    /// Final answers of one part from a journal. The store reads their subscriptions from the part's target.
    init(_ claim: PartToken, _ facts: some Collection<JournalAnswer>) {
        self.init(capacity: facts.count)
        for fact in facts {
            append(
                part: claim.part,
                token: claim.token,
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
