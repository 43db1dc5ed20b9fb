import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// What becomes of messages that a previous part or owner left open.
@Suite struct DispatchDoubtTests {
    private let now = DispatchFixture.start
    private let soft = Outcome(
        index: 0,
        outcomeClass: .retry,
        status: 503,
        reason: "ServiceUnavailable",
        retryAfterMilliseconds: 60_000,
        fault: .message
    )

    /// A dispatch state that has sent the messages of a part.
    private func sent(_ part: PreparedPart) -> DispatchState {
        var dispatch = DispatchState(
            window: DispatchWindow(size: 4_000, maxBytes: .max),
            batchSize: 1_000,
            applicationID: 1
        )
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
        return dispatch
    }

    @Test(arguments: [true, false])
    func whatWasHandedOverAmbiguousDoesNotEndAsIfItHadNeverArrived(_ expires: Bool) throws {
        let delivery = try DispatchFixture.delivery(
            maxRetries: expires ? 3 : 0,
            validUntilMilliseconds: expires ? now + 1_000 : nil
        )
        var part = DispatchFixture.part(1, size: 2, delivery: delivery)
        part.ambiguousRows = [0]
        var dispatch = sent(part)
        var second = soft
        second.index = 1
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [soft, second]), now: now)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        let rows = batch.allRows.sorted { $0.sequence < $1.sequence }
        #expect(rows.map(\.status) == [.unknown, expires ? .ignored : .failed])
        #expect(dispatch.counters.counts.unknown == 1)
        let closing = try #require(batch.closing.first)
        #expect(closing.resentAfterAmbiguity == 0, "the part before has counted it")
        #expect(closing.ambiguous.isEmpty, "and has it on record")
    }

    private let refused = Outcome(index: 2, outcomeClass: .permanent, status: 400, reason: "BadTopic")
    private let dead = Outcome(
        index: 3,
        outcomeClass: .permanent,
        status: 410,
        reason: "Unregistered",
        tokenEffect: .invalid(sinceMilliseconds: nil)
    )

    @Test(arguments: [true, false])
    func whatIsAmbiguousIsTriedAgainAndBelievedWhenItArrivedOrNeverCould(_ isHandedOver: Bool) throws {
        var part = DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery())
        if isHandedOver { part.ambiguousRows = [0, 1, 2, 3] } else { part.lost = [0, 1, 2, 3] }
        var dispatch = sent(part)
        var other = refused
        other.index = 4
        let outcomes = [soft, Outcome(index: 1, outcomeClass: .accepted, status: 200), refused, dead, other]
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        let rows = batch.allRows.sorted { $0.sequence < $1.sequence }
        #expect(
            rows.map(\.status) == [.sent, .unknown, .failed, .failed],
            "an earlier attempt of the third may have arrived"
        )
        #expect(rows.map(\.reason) == [nil, "BadTopic", "Unregistered", "BadTopic"])
        #expect(dispatch.counters.counts.unknown == 1 && dispatch.counters.counts.failed == 2)
        #expect(batch.closing.first?.retries.map(\.sequences) == [[10_000]])
        #expect(batch.closing.first?.resentAfterAmbiguity == 0)
        #expect(try classes(actions) == [.unprocessed, .accepted, .ambiguous, .permanent, .permanent, .retry])
    }

    @Test func aLostOwnerDoesNotFailWhatMayHaveArrived() throws {
        var part = DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery())
        part.lost = [2]
        var dispatch = sent(part)
        _ = dispatch.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: [refused]), now: now)
        #expect(try classes(actions) == [.ambiguous], "the journal would bring it as a fact")
        #expect(dispatch.outbox.outcomes.isEmpty && dispatch.counters.counts.failed == 0)
    }

    /// The journal's records.
    private func classes(_ actions: [DispatchState.Action]) throws -> [OutcomeClass] {
        var answers: [JournalAnswer] = []
        for case .journal(let bytes) in actions {
            for case .answers(_, _, _, let some) in try DispatchFixture.records(bytes) { answers += some }
        }
        return answers.map(\.outcomeClass)
    }

    @Test func aRetryPartsMessagesAmbiguousAreSortedApart() throws {
        var loaded = LoadedPart()
        loaded.sequences = [1, 2, 3, 4, 5, 6]
        loaded.decisions = [.sendable, .disabled, .sendable, .optedOut, .sendable, .sendable]
        let answer = PartRecovery.SoftAnswer(sequence: 5, attempt: 2, httpStatus: 503, reason: "", notBefore: nil)
        var sorter = RowSorter(
            sendsLost: true,
            known: [6],
            recovery: PartRecovery(ambiguous: [3], softAnswers: [answer]),
            inherited: [1, 2, 3, 5, 6],
            now: now
        )
        let fates = (0..<6).map { row in
            switch sorter.sort(row: row, loaded) {
            case .known: "known"
            case .send: "send"
            case .decided(let status, _): status.name
            case .soft: "soft"
            }
        }
        #expect(fates == ["send", "unknown", "send", "not_applicable", "soft", "known"])
        #expect(sorter.ambiguousRows == [0])
        #expect(sorter.lost == [2], "an owner of this part sent it")
        #expect(sorter.resent == 1, "what was handed over was counted by the part before")
        #expect(sorter.unanswered.isEmpty, "the store hands on what was handed over")
    }

    @Test func givingUpIsADecisionAndNoFact() throws {
        var dispatch = sent(DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        let refused = Outcome(index: 1, outcomeClass: .permanent, status: 400, reason: "BadTopic")
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: [soft, refused]), now: now)
        var answers: [JournalAnswer] = []
        for case .journal(let bytes) in actions {
            for case .answers(_, _, _, let some) in try DispatchFixture.records(bytes) { answers += some }
        }
        #expect(
            answers.map(\.outcomeClass) == [.unprocessed, .permanent, .retry],
            "the journal keeps what the gateway said"
        )
        #expect(answers.allSatisfy { $0.notBeforeMilliseconds == nil })
        let taken = dispatch.outbox.take()
        let rows = try #require(taken).batch.allRows.sorted { $0.sequence < $1.sequence }
        #expect(rows.map(\.status) == [.failed, .failed])
        #expect(rows.map(\.isDecision) == [true, false])
    }

    @Test func whatIsRefusedBeforeItIsSentIsADecision() throws {
        var part = DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery())
        part.slices = []
        part.decided = [.init(row: 0, status: .failed, reason: "PayloadTooLarge")]
        var dispatch = sent(part)
        let taken = dispatch.outbox.take()
        #expect(try #require(taken).batch.allRows.map(\.isDecision) == [true])
    }

    @Test func aRecoveredSoftAnswerWaitsNoLongerThanItWasTold() throws {
        var loaded = LoadedPart()
        loaded.sequences = [10_000]
        loaded.decisions = [.sendable]
        // The database's clock has been set back by ten minutes since.
        let answer = PartRecovery.SoftAnswer(
            sequence: 10_000,
            attempt: 1,
            httpStatus: 503,
            reason: "",
            notBefore: DatabaseTime(microsecondsSince1970: (now + 630_000) * 1_000),
            maxDelayMilliseconds: 30_000
        )
        var sorter = RowSorter(sendsLost: true, known: [], recovery: PartRecovery(softAnswers: [answer]), now: now)
        guard case .soft(let notBefore, let longest, _) = sorter.sort(row: 0, loaded) else {
            Issue.record("it was answered softly")
            return
        }
        var part = DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery())
        part.slices = []
        part.softAnswers = [.init(row: 0, notBeforeMilliseconds: notBefore, maxDelayMilliseconds: longest)]
        var dispatch = sent(part)
        let taken = dispatch.outbox.take()
        #expect(try #require(taken).batch.closing.first?.retries.map(\.delayMilliseconds) == [30_000])
    }
}
