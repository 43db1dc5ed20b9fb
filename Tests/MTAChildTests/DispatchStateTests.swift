import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

@Suite struct DispatchStateTests {
    private func dispatch(window: Int = 4_000, batchSize: Int = 1_000) -> DispatchState {
        DispatchState(window: DispatchWindow(size: window, maxBytes: .max), batchSize: batchSize, applicationID: 1)
    }

    private let now = DispatchFixture.start

    @Test func aPartIsMarkedThenSubmittedThenJournaledWhenItLeaves() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery())
        let first = dispatch.handle(.prepared(part), now: now)
        guard case .mark(let marks)? = first.first, first.count == 1 else {
            Issue.record("a mark, and nothing before it: \(first)")
            return
        }
        #expect(marks == [PartMark(part: 1, token: 1, through: 3)])
        let second = dispatch.handle(.marked(marks, held: [1]), now: now)
        guard case .submit(let batch)? = second.first, batch.count == 3 else {
            Issue.record("nothing is journaled before it leaves: \(second)")
            return
        }
        let departure = GatewayDeparture(batch: batch, ranges: [0..<2])
        let intents = dispatch.aboutToSend([departure], now: now, isLeaseValid: { true })
        let bytes = try #require(intents)
        #expect(try DispatchFixture.records(bytes) == [.intent(part: 1, token: 1, ranges: [10_000...10_001])])
    }

    /// A part of six messages in batches of two; the first four are marked together.
    private func partOfThreeBatches() throws -> PreparedPart {
        var part = DispatchFixture.part(1, size: 6, delivery: try DispatchFixture.delivery())
        part.slices = [
            .init(rows: [0, 1], batch: DispatchFixture.batch(100, 2), markThrough: 4),
            .init(rows: [2, 3], batch: DispatchFixture.batch(101, 2), markThrough: 4),
            .init(rows: [4, 5], batch: DispatchFixture.batch(102, 2), markThrough: 6),
        ]
        return part
    }

    private func batches(_ actions: [DispatchState.Action]) -> [Int64] {
        actions.compactMap { if case .submit(let batch) = $0 { batch.id } else { nil } }
    }

    private func marks(_ actions: [DispatchState.Action]) -> [PartMark] {
        actions.compactMap { if case .mark(let asked) = $0 { asked } else { nil } }.flatMap { $0 }
    }

    @Test func batchesBelowOneMarkLeaveWithIt() throws {
        var dispatch = dispatch()
        let first = dispatch.handle(.prepared(try partOfThreeBatches()), now: now)
        #expect(marks(first) == [PartMark(part: 1, token: 1, through: 4)])
        #expect(dispatch.window.unresolved == 4)
        let second = dispatch.handle(.marked(marks(first), held: [1]), now: now)
        #expect(batches(second) == [100, 101])
        #expect(marks(second) == [PartMark(part: 1, token: 1, through: 6)])
        #expect(batches(dispatch.handle(.marked(marks(second), held: [1]), now: now)) == [102])
        #expect(dispatch.window.unresolved == 6 && dispatch.window.inGateway == 6 && dispatch.waiting.isEmpty)
    }

    @Test func aRateCutsThroughTheBatchesOfAMark() throws {
        var dispatch = dispatch()
        var part = try partOfThreeBatches()
        part.slices.removeLast()
        let delivery = part.claimed.deliveryID
        let limit = RateLimit(id: 1, messagesPerSecond: 50, deliveryID: delivery)
        _ = dispatch.handle(.limitsSeen([limit], asked: [delivery]), now: now)
        _ = dispatch.handle(.prepared(part), now: now)
        var left: [Int] = []
        var marked: [PartMark] = []
        for step in 1...40 {
            dispatch.advance(to: .milliseconds(step * 25))
            let asked = dispatch.pace.slicesToAsk(at: dispatch.moment)
            let slices = asked.map {
                RateSlice(limit: $0.limit, messages: $0.messages, startsIn: .zero, messagesPerSecond: 50)
            }
            var events: [DispatchState.Event] = [.slices(slices, asked: asked.map(\.limit)), .lookAgain]
            if !marked.isEmpty { events.insert(.marked(marked, held: [1]), at: 0) }
            let actions = dispatch.handle(events, now: now)
            left += actions.compactMap { if case .submit(let batch) = $0 { batch.count } else { nil } }
            if let mark = marked.first { #expect(left.reduce(0, +) == mark.through, "no mark is for more than leaves") }
            marked = marks(actions)
        }
        #expect(left.reduce(0, +) == 4, "\(left)")
        #expect(left.count > 2, "one batch was cut: \(left)")
        #expect(dispatch.window.unresolved == 4)
    }

    /// At its delivery's rate a part may take minutes; a child that drains does not wait for it.
    @Test func whatARateHoldsGoesBackWhenTheChildLeaves() throws {
        var dispatch = dispatch()
        let part = try partOfThreeBatches()
        let delivery = part.claimed.deliveryID
        let limit = RateLimit(id: 1, messagesPerSecond: 2, deliveryID: delivery)
        _ = dispatch.handle(.limitsSeen([limit], asked: [delivery]), now: now)
        _ = dispatch.handle(.prepared(part), now: now)
        let asked = dispatch.pace.slicesToAsk(at: .zero).map(\.limit)
        let slice = RateSlice(limit: 1, messages: 1, startsIn: .zero, messagesPerSecond: 2)
        let granted = dispatch.handle(.slices([slice], asked: asked), now: now)
        let sent = dispatch.handle(.marked(marks(granted), held: [1]), now: now)
        let batch = try #require(batches(sent).first)
        #expect(dispatch.window.inGateway == 1)

        #expect(released(dispatch.handle(.drain, now: now)).isEmpty, "one of its messages has no answer yet")
        let answer = Outcome(index: 0, outcomeClass: .accepted, status: 200)
        #expect(released(dispatch.handle(.resolved(batchID: batch, outcomes: [answer]), now: now)).isEmpty)
        let taken = dispatch.outbox.take()
        let (stored, rows) = try #require(taken)
        let last = dispatch.handle(.stored(StoreReport(), claims: stored.claims, windowRows: rows), now: now)
        #expect(released(last) == [PartToken(part: 1, token: 1)])
        _ = dispatch.handle(.released(PartToken(part: 1, token: 1)), now: now)
        #expect(dispatch.isEmpty)
    }

    @Test func whatNoRateHoldsIsSentBeforeTheChildLeaves() throws {
        var dispatch = dispatch()
        _ = dispatch.handle(.drain, now: now)
        let first = dispatch.handle(.prepared(try partOfThreeBatches()), now: now)
        #expect(marks(first) == [PartMark(part: 1, token: 1, through: 4)] && released(first).isEmpty)
    }

    private func released(_ actions: [DispatchState.Action]) -> [PartToken] {
        actions.compactMap { if case .release(let claim, _) = $0 { claim } else { nil } }
    }

    @Test func aResolvedPartEndsWithItsLastOutcome() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted, status: 200)]),
            now: now
        )
        #expect(dispatch.outbox.outcomes.closing.isEmpty)
        let refused = Outcome(
            index: 1,
            outcomeClass: .permanent,
            status: 410,
            reason: "Unregistered",
            tokenEffect: .invalid(sinceMilliseconds: 5)
        )
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: [refused]), now: now)
        guard case .journal? = actions.first else {
            Issue.record("an answer is journaled before anything else: \(actions)")
            return
        }
        let taken = dispatch.outbox.take()
        let (batch, rows) = try #require(taken)
        #expect(batch.count == 2)
        #expect(rows == 2)
        #expect(batch.closing.map(\.claim) == [PartToken(part: 1, token: 1)])
        #expect(batch.effects.map(\.reason) == ["Unregistered"])
        var report = StoreReport()
        report.closedParts = [1]
        _ = dispatch.handle(.stored(report, claims: batch.claims, windowRows: rows), now: now)
        #expect(dispatch.isEmpty)
        #expect(dispatch.window.unresolved == 0)
    }

    @Test func theWindowBoundsWhatIsUnresolved() throws {
        var dispatch = dispatch(window: 10)
        let delivery = try DispatchFixture.delivery()
        try send(&dispatch, DispatchFixture.part(1, size: 6, delivery: delivery))
        #expect(dispatch.handle(.prepared(DispatchFixture.part(2, size: 6, delivery: delivery)), now: now).isEmpty)
        let outcomes = (0..<Int32(6)).map { Outcome(index: $0, outcomeClass: .accepted, status: 200) }
        let resolved = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        #expect(!resolved.contains { if case .mark = $0 { true } else { false } }, "not before the outcomes are stored")
        let taken = dispatch.outbox.take()
        let (batch, rows) = try #require(taken)
        var report = StoreReport()
        report.closedParts = [1]
        let stored = dispatch.handle(.stored(report, claims: batch.claims, windowRows: rows), now: now)
        #expect(stored.contains { if case .mark = $0 { true } else { false } })
    }

    @Test func unprocessedMessagesAreSentAgainSixTimesThenRetried() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        var batchID: Int64 = 100
        var submissions = 1
        while true {
            let actions = dispatch.handle(
                .resolved(batchID: batchID, outcomes: [Outcome(index: 0, outcomeClass: .unprocessed)]),
                now: now
            )
            let later = actions.contains { if case .resendLater = $0 { true } else { false } }
            guard later else { break }
            for case .submit(let batch) in dispatch.handle(.resendDue(batchID: batchID), now: now) {
                submissions += 1
                batchID = batch.id
            }
        }
        #expect(submissions == 1 + RetryPolicy.maxUnprocessedResends)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        #expect(batch.count == 0)
        #expect(batch.closing.first?.retries.map(\.sequences) == [[10_000]])
        #expect(dispatch.window.unresolved == 0)
    }

    /// At a gateway with a few slow answers, answered messages would otherwise hold most of the memory.
    @Test func aBatchLetsGoOfMessagesThatHaveTheirDecision() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery())
        let batch = part.slices[0].batch
        try send(&dispatch, part)
        let whole = dispatch.flights.byteCount
        let accepted = { (indexes: Range<Int32>) in
            indexes.map { Outcome(index: $0, outcomeClass: .accepted, status: 200) }
        }
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: accepted(10..<84)), now: now)
        #expect(dispatch.flights.byteCount == whole, "to copy what is left costs more than it frees")
        // Unprocessed messages have no decision: they are resent.
        let unprocessed = [0, 9, 99].map { Outcome(index: Int32($0), outcomeClass: .unprocessed) }
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: unprocessed + accepted(84..<96)), now: now)
        #expect(dispatch.flights.byteCount == batch.byteCount && batch.byteCount < whole)
        #expect((0..<100).map { batch.tokens.string($0) } == (0..<100).map { 10..<96 ~= $0 ? "" : "token\($0)" })
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: accepted(1..<9) + accepted(96..<99)), now: now)
        #expect((0..<100).filter { !batch.tokens[$0].isEmpty } == [0, 9, 99])
        let again = dispatch.handle(.resendDue(batchID: 100), now: now).compactMap {
            if case .submit(let batch) = $0 { batch } else { nil }
        }
        #expect(
            again.flatMap { batch in (0..<batch.count).map { batch.tokens.string($0) } } == [
                "token0", "token9", "token99",
            ]
        )
        #expect(dispatch.flights.all.map(\.rows) == [[0, 9, 99]] && dispatch.flights.byteCount == again[0].byteCount)
        let last = (0..<3).map { Outcome(index: $0, outcomeClass: .accepted, status: 200) }
        _ = dispatch.handle(.resolved(batchID: again[0].id, outcomes: last), now: now)
        #expect(dispatch.flights.isEmpty && dispatch.flights.byteCount == 0)
    }

    /// Resent messages are then in a separate batch.
    @Test func aBatchLetsGoOfMessagesThatAreSentAgain() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery())
        let batch = part.slices[0].batch
        try send(&dispatch, part)
        let unprocessed = (0..<Int32(98)).map { Outcome(index: $0, outcomeClass: .unprocessed) }
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: unprocessed), now: now)
        #expect(!batch.tokens[0].isEmpty)
        let again = dispatch.handle(.resendDue(batchID: 100), now: now).compactMap {
            if case .submit(let batch) = $0 { batch } else { nil }
        }
        #expect(again.map(\.count) == [98])
        #expect((0..<100).filter { !batch.tokens[$0].isEmpty } == [98, 99], "those are on the wire")
        #expect(dispatch.flights.byteCount == batch.byteCount + again[0].byteCount)
    }

    @Test(arguments: [AmbiguityPolicy.resend, .report])
    func ambiguousMessagesFollowThePolicy(_ policy: AmbiguityPolicy) throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery(policy: policy)))
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .ambiguous)]), now: now)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        switch policy {
        case .resend:
            #expect(batch.count == 0)
            #expect(batch.closing.first?.retries.count == 1)
            #expect(batch.closing.first?.resentAfterAmbiguity == 1)
        case .report:
            #expect(batch.count == 1)
            #expect(dispatch.counters.counts.unknown == 1)
        }
    }

    @Test func softAnswersEndWithTheValidityAndTheAttempts() throws {
        let late = try DispatchFixture.delivery(validUntilMilliseconds: now + 1_000)
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1, delivery: late))
        let soft = Outcome(
            index: 0,
            outcomeClass: .retry,
            status: 503,
            reason: "TooManyRequests",
            retryAfterMilliseconds: 60_000,
            fault: .message
        )
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [soft]), now: now)
        let taken = dispatch.outbox.take()
        #expect(taken?.batch.count == 1)
        try send(&dispatch, DispatchFixture.part(2, size: 1, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        _ = dispatch.handle(.resolved(batchID: 200, outcomes: [soft]), now: now)
        let second = dispatch.outbox.take()
        #expect(second?.batch.count == 1)
        #expect(dispatch.counters.counts.failed == 1)
    }

    @Test func aFencedOwnerDecidesNothingButItsFactsAreKept() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        #expect(dispatch.heldTokens.isEmpty)
        let outcomes = [
            Outcome(index: 0, outcomeClass: .accepted, status: 200),
            Outcome(index: 1, outcomeClass: .retry, status: 503),
            Outcome(index: 2, outcomeClass: .unprocessed),
        ]
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        let taken = dispatch.outbox.take()
        let (batch, rows) = try #require(taken)
        #expect(batch.count == 1)
        #expect(batch.closing.isEmpty)
        var report = StoreReport()
        report.fencedParts = [1]
        _ = dispatch.handle(.stored(report, claims: batch.claims, windowRows: rows), now: now)
        #expect(dispatch.isEmpty)
        #expect(dispatch.window.unresolved == 0)
    }

    /// A child may claim a part again that was taken from it, while messages of its first claim are still on the wire.
    @Test func aPartThatIsClaimedAgainIsKeptApartFromItsFirstClaim() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: delivery))
        _ = dispatch.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        var again = DispatchFixture.part(1, size: 2, batch: 500, delivery: delivery)
        again.claimed = DispatchFixture.claimed(1, size: 2, token: 2)
        try send(&dispatch, again)
        let late = Outcome(index: 0, outcomeClass: .accepted, status: 200)
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [late]), now: now)
        let first = dispatch.outbox.take()
        let (lateBatch, lateRows) = try #require(first)
        #expect(lateBatch.claims == [PartToken(part: 1, token: 1)])
        var fenced = StoreReport()
        fenced.fencedParts = [1]
        _ = dispatch.handle(.stored(fenced, claims: lateBatch.claims, windowRows: lateRows), now: now)
        #expect(dispatch.heldTokens == [PartToken(part: 1, token: 2)], "the new claim is not fenced for the old one")
        _ = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 1, outcomeClass: .unprocessed)]),
            now: now
        )
        let answers = (0..<Int32(2)).map { Outcome(index: $0, outcomeClass: .accepted, status: 200) }
        _ = dispatch.handle(.resolved(batchID: 500, outcomes: answers), now: now)
        let second = dispatch.outbox.take()
        let (batch, rows) = try #require(second)
        #expect(batch.closing.map(\.claim) == [PartToken(part: 1, token: 2)])
        var closed = StoreReport()
        closed.closedParts = [1]
        _ = dispatch.handle(.stored(closed, claims: batch.claims, windowRows: rows), now: now)
        #expect(dispatch.isEmpty)
        #expect(dispatch.window.unresolved == 0)
    }

    @Test func aMarkThatComesAfterTheLeaseSendsNothing() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery())
        guard case .mark(let marks)? = dispatch.handle(.prepared(part), now: now).first else {
            Issue.record("a mark")
            return
        }
        _ = dispatch.handle(.leaseValid(false), now: now)
        let late = dispatch.handle(.marked(marks, held: [1]), now: now)
        #expect(!late.contains { if case .submit = $0 { true } else { false } })
        let again = dispatch.handle(.leaseValid(true), now: now)
        #expect(again.contains { if case .mark = $0 { true } else { false } }, "it is marked and sent when it may be")
    }

    @Test func aLostLeaseTakesBackWhatWaitsInTheGateway() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        let actions = dispatch.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        #expect(actions.contains { if case .cancelQueued = $0 { true } else { false } })
    }

    @Test func aLostMarkSendsNothing() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery())
        guard case .mark(let marks)? = dispatch.handle(.prepared(part), now: now).first else {
            Issue.record("a mark")
            return
        }
        let actions = dispatch.handle(.marked(marks, held: []), now: now)
        #expect(!actions.contains { if case .submit = $0 { true } else { false } })
        #expect(dispatch.isEmpty)
        #expect(dispatch.window.unresolved == 0)
    }

    @Test func aFastShutdownGivesBackOnlyAfterTheOutcomesAreStored() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: delivery))
        _ = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted, status: 200)]),
            now: now
        )
        #expect(
            dispatch.handle(.fastShutdown, now: now).contains { if case .cancelQueued = $0 { true } else { false } }
        )
        let back = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 1, outcomeClass: .unprocessed)]),
            now: now
        )
        #expect(!back.contains { if case .release = $0 { true } else { false } })
        let taken = dispatch.outbox.take()
        let (batch, rows) = try #require(taken)
        let stored = dispatch.handle(.stored(StoreReport(), claims: batch.claims, windowRows: rows), now: now)
        #expect(stored.contains { if case .release(let part, _) = $0 { part.part == 1 } else { false } })
        #expect(dispatch.isEmpty)
    }

    /// One unanswered message must not make all others wait.
    @Test func aCutOfTheJournalKeepsWhatTheDatabaseHasNotAndNobodyWaitsForIt() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery()
        try send(&dispatch, DispatchFixture.part(1, size: 1, delivery: delivery))
        let kept = { (actions: [DispatchState.Action]) -> [Int64: [Int64]] in
            actions.reduce(into: [:]) {
                if case .cutJournal(let length, let claims) = $1 { $0[length] = claims.map(\.part).sorted() }
            }
        }
        #expect(kept(dispatch.handle(.journalLong(100), now: now)) == [100: [1]])
        try send(&dispatch, DispatchFixture.part(2, size: 1, batch: 200, delivery: delivery))
        #expect(dispatch.window.inGateway == 2, "what comes next leaves at once")
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted)]), now: now)
        #expect(kept(dispatch.handle(.journalLong(200), now: now)) == [200: [1, 2]])
        let taken = dispatch.outbox.take()
        let (batch, rows) = try #require(taken)
        #expect(kept(dispatch.handle(.journalLong(300), now: now)) == [300: [1, 2]], "its outcome is on its way")
        var report = StoreReport()
        report.closedParts = [1]
        _ = dispatch.handle(.stored(report, claims: batch.claims, windowRows: rows), now: now)
        #expect(kept(dispatch.handle(.journalLong(400), now: now)) == [400: [2]])
    }

    /// A gateway's answer is a fact, even for a part that another host has taken.
    @Test func aCutOfTheJournalKeepsFactsOfAPartThatIsLost() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        let claim = PartToken(part: 1, token: 1)
        _ = dispatch.handle(.leasesLost([claim]), now: now)
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted)]), now: now)
        #expect(dispatch.parts.isEmpty && dispatch.journaledClaims == [claim])
        let taken = dispatch.outbox.take()
        let (batch, rows) = try #require(taken)
        #expect(dispatch.journaledClaims == [claim])
        _ = dispatch.handle(.stored(StoreReport(), claims: batch.claims, windowRows: rows), now: now)
        #expect(dispatch.journaledClaims.isEmpty)
    }

    @Test func nothingIsSentWhileTheLeaseIsAmbiguous() throws {
        var dispatch = dispatch()
        #expect(
            dispatch.handle(.leaseValid(false), now: now).contains {
                if case .cancelQueued = $0 { true } else { false }
            }
        )
        #expect(
            dispatch.handle(
                .prepared(DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery())),
                now: now
            ).isEmpty
        )
        let again = dispatch.handle(.leaseValid(true), now: now)
        #expect(again.contains { if case .mark = $0 { true } else { false } })
    }

    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) throws {
        let actions = dispatch.handle(.prepared(part), now: now)
        for case .mark(let marks) in actions {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
    }
}
