import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// An answer's kind of failure and its effect on the token, through to the outcome batch and the journal.
@Suite struct DispatchFailureTests {
    private let now = DispatchFixture.start
    private let refused = MessageFailure(.soft, .refused)

    /// A dispatch state with one part of this many messages in the gateway.
    private func dispatch(
        size: Int,
        maxRetries: Int16 = 3,
        validFor: Int64? = nil,
        withErrors: Set<Int32> = []
    ) throws -> DispatchState {
        var dispatch = DispatchState(
            window: DispatchWindow(size: 4_000, maxBytes: .max),
            batchSize: 1_000,
            applicationID: 1
        )
        let delivery = try DispatchFixture.delivery(
            maxRetries: maxRetries,
            validUntilMilliseconds: validFor.map { now + $0 }
        )
        var part = DispatchFixture.part(1, size: size, delivery: delivery)
        part.withErrors = withErrors
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: [1]), now: now)
        }
        return dispatch
    }

    /// Resolves outcomes; returns the database's batch and the journal's records.
    private func resolve(_ outcomes: [Outcome], _ dispatch: inout DispatchState) throws -> (
        OutcomeBatch, [JournalAnswer]
    ) {
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        var answers: [JournalAnswer] = []
        for case .journal(let bytes) in actions {
            for case .answers(_, _, _, let some) in try DispatchFixture.records(bytes) { answers += some }
        }
        let taken = dispatch.outbox.take()
        return (try #require(taken).batch, answers)
    }

    private func soft(_ index: Int32, _ outcomeClass: OutcomeClass) -> Outcome {
        Outcome(
            index: index,
            outcomeClass: outcomeClass,
            status: 429,
            reason: "TooManyRequests",
            tokenEffect: .softError,
            failure: refused,
            fault: outcomeClass == .retry ? .message : nil
        )
    }

    @Test func aFailureIsKeptWithItsMessageAndInTheJournal() throws {
        var dispatch = try dispatch(size: 2)
        let dead = MessageFailure(.hard, .userUnknown)
        let (batch, answers) = try resolve(
            [
                Outcome(index: 0, outcomeClass: .accepted, status: 200),
                Outcome(
                    index: 1,
                    outcomeClass: .permanent,
                    status: 410,
                    reason: "Unregistered",
                    tokenEffect: .invalid(sinceMilliseconds: 7),
                    failure: dead
                ),
            ],
            &dispatch
        )
        #expect(batch.rows.map(\.failure) == [dead])
        #expect(batch.runs.map(\.sequences) == [[10_000]], "what was taken is stored as ever")
        #expect(answers.map(\.failure) == [nil, dead])
        #expect(batch.effects.map(\.kind) == [.invalid])
    }

    @Test func anAnswerWithoutReasonKeepsItsFailure() throws {
        var dispatch = try dispatch(size: 1)
        let (batch, _) = try resolve(
            [Outcome(index: 0, outcomeClass: .permanent, status: 400, failure: refused)],
            &dispatch
        )
        #expect(batch.runs.isEmpty && batch.rows.map(\.failure) == [refused])
    }

    @Test func aSoftErrorCountsWhenTheMessageIsGivenUpAndNotBefore() throws {
        var first = try dispatch(size: 1)
        let again = try resolve([soft(0, .retry)], &first)
        #expect(again.0.count == 0 && again.0.effects.isEmpty)
        #expect(again.0.closing.first?.retries.count == 1)
        #expect(again.1.first?.tokenEffect == .softError)

        var last = try dispatch(size: 1, maxRetries: 0)
        let (exhausted, _) = try resolve([soft(0, .retry)], &last)
        #expect(exhausted.rows.map(\.status) == [.failed] && exhausted.rows.map(\.failure) == [refused])
        #expect(exhausted.effects.map(\.kind) == [.softError])
        #expect(exhausted.effects.map(\.reason) == ["TooManyRequests"])

        var late = try dispatch(size: 1, validFor: 1)
        let (expired, _) = try resolve([soft(0, .retry)], &late)
        #expect(expired.rows.map(\.status) == [.ignored] && expired.rows.map(\.failure) == [refused])
        #expect(expired.effects.map(\.kind) == [.softError])

        var refusing = try dispatch(size: 1)
        let (permanent, _) = try resolve([soft(0, .permanent)], &refusing)
        #expect(permanent.rows.map(\.status) == [.failed])
        #expect(permanent.effects.map(\.kind) == [.softError])
    }

    @Test func aMessageAmbiguousCountsForNoToken() throws {
        var dispatch = try dispatch(size: 1, maxRetries: 0)
        var doubt = soft(0, .ambiguous)
        doubt.reason = "Timeout"
        let (batch, _) = try resolve([doubt], &dispatch)
        #expect(batch.rows.map(\.status) == [.unknown] && batch.rows.map(\.failure) == [refused])
        #expect(batch.effects.isEmpty)
    }

    @Test func aReplacedTokenAndTheEndOfErrorsGoWithTheOutcome() throws {
        var dispatch = try dispatch(size: 3, withErrors: [1, 2])
        let outcomes = [
            Outcome(index: 0, outcomeClass: .accepted, status: 200),
            Outcome(index: 1, outcomeClass: .accepted, status: 200, tokenEffect: .replaced(by: "new")),
            soft(2, .permanent),
        ]
        let (batch, answers) = try resolve(outcomes, &dispatch)
        #expect(batch.effects.map(\.kind) == [.canonical, .success, .softError])
        #expect(batch.effects.map(\.newToken) == ["new", nil, nil])
        #expect(batch.effects.map(\.sequence) == [10_001, 10_001, 10_002])
        #expect(answers.map(\.healsErrors) == [false, true, false])
        #expect(answers[1].tokenEffect == .replaced(by: "new"))
        #expect(batch.runs.map(\.sequences) == [[10_000, 10_001]])
    }

    @Test func aTokenThatCannotBeStoredReplacesNone() throws {
        var dispatch = try dispatch(size: 2)
        let outcomes = ["", "a\0b"].enumerated().map { index, token in
            Outcome(index: Int32(index), outcomeClass: .accepted, status: 200, tokenEffect: .replaced(by: token))
        }
        #expect(try resolve(outcomes, &dispatch).0.effects.isEmpty)
    }

    @Test func aMessageThatCannotBeMadeIsAFailureOfItsKind() throws {
        var dispatch = DispatchState(
            window: DispatchWindow(size: 4_000, maxBytes: .max),
            batchSize: 1_000,
            applicationID: 1
        )
        dispatch.gatewayAnswers = .apnsHTTP2
        var part = DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery())
        part.slices = []
        part.decided = [
            .init(row: 0, status: .failed, reason: PayloadLimits.tooLongReason(limit: 4_096)),
            .init(row: 1, status: .failed, reason: "BadCollapseId: too long"),
            .init(row: 2, status: .notApplicable, reason: "opted_out"),
        ]
        _ = dispatch.handle(.prepared(part), now: now)
        let taken = dispatch.outbox.take()
        let batch = try #require(taken).batch
        #expect(batch.rows.map(\.failure) == [refused, MessageFailure(.soft, .undefined), nil])
        #expect(batch.effects.isEmpty)
    }
}
