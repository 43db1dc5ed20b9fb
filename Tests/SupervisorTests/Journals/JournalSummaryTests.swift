import PushCore
import Store
import Testing

@testable import Supervisor

@Suite struct JournalSummaryTests {
    private let claim = PartToken(part: 7, token: 2)

    private func answers(_ answers: JournalAnswer...) -> JournalRecord {
        .answers(part: 7, token: 2, timeMilliseconds: 0, answers)
    }

    private func summary(_ records: JournalRecord...) -> JournalSummary {
        var summary = JournalSummary()
        for record in records { summary.add(record) }
        return summary
    }

    @Test func intentsWithoutAnswersAreAmbiguous() {
        let summary = summary(
            .intent(part: 7, token: 2, ranges: [1...3, 6...6]),
            answers(JournalAnswer(sequence: 2, outcomeClass: .accepted, status: 200))
        )
        let results = summary.results(claim)
        #expect(results.ambiguous == [1, 3, 6])
        #expect(results.facts.map(\.sequence) == [2])
        #expect(summary.claims == [claim])
    }

    @Test func theLastWordAboutAMessageCounts() {
        let first = summary(
            .intent(part: 7, token: 2, ranges: [1...1]),
            answers(JournalAnswer(sequence: 1, outcomeClass: .unprocessed)),
            .intent(part: 7, token: 2, ranges: [1...1])
        )
        #expect(first.results(claim).ambiguous == [1])
        let second = summary(
            .intent(part: 7, token: 2, ranges: [1...2]),
            answers(
                JournalAnswer(sequence: 1, outcomeClass: .unprocessed),
                JournalAnswer(sequence: 2, outcomeClass: .stopApplication, status: 403)
            )
        )
        #expect(second.results(claim) == JournalSummary.Results(), "both are as if never sent")
    }

    @Test func softAnswersAreNoFacts() {
        let retry = JournalAnswer(
            sequence: 4,
            outcomeClass: .retry,
            status: 503,
            attempt: 2,
            notBeforeMilliseconds: 99,
            reason: "ServiceUnavailable"
        )
        let permanent = JournalAnswer(sequence: 5, outcomeClass: .permanent, status: 410, reason: "Unregistered")
        let unknown = JournalAnswer(sequence: 6, outcomeClass: .ambiguous)
        let results = summary(.intent(part: 7, token: 2, ranges: [4...6]), answers(retry, permanent, unknown))
            .results(claim)
        #expect(results == JournalSummary.Results(ambiguous: [6], facts: [permanent], softAnswers: [retry]))
    }

    @Test func aClosedPartNeedsNothing() {
        let summary = summary(
            .intent(part: 7, token: 2, ranges: [1...5]),
            .intent(part: 7, token: 3, ranges: [1...1]),
            .closed(part: 7, token: 2)
        )
        #expect(summary.claims == [.init(part: 7, token: 3)])
        #expect(summary.results(claim) == JournalSummary.Results())
    }
}
