import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

@Suite struct SendDeskTests {
    private func desk(window: Int = 4_000, batchSize: Int = 1_000) -> SendDesk {
        SendDesk(window: window, batchSize: batchSize, applicationID: 1)
    }

    private let now = DeskFixture.start

    @Test func aPartIsMarkedThenSubmittedThenJournaledWhenItLeaves() throws {
        var desk = desk()
        let part = DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery())
        let first = desk.handle(.prepared(part), now: now)
        guard case .mark(let marks)? = first.first, first.count == 1 else {
            Issue.record("a mark, and nothing before it: \(first)")
            return
        }
        #expect(marks == [PartMark(part: 1, token: 1, through: 3)])
        let second = desk.handle(.marked(marks, held: [1]), now: now)
        guard case .submit(let batch)? = second.first, batch.count == 3 else {
            Issue.record("nothing is journaled before it leaves: \(second)")
            return
        }
        let departure = GatewayDeparture(batch: batch, ranges: [0..<2])
        let intents = desk.departing([departure], now: now, isLeaseValid: { true })
        let bytes = try #require(intents)
        #expect(try DeskFixture.records(bytes) == [.intent(part: 1, token: 1, ranges: [10_000...10_001])])
    }

    @Test func aSettledPartEndsWithItsLastOutcome() throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        _ = desk.handle(
            .settled(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted, status: 200)]),
            now: now
        )
        #expect(desk.outcomes.closing.isEmpty)
        let refused = Outcome(
            index: 1,
            outcomeClass: .permanent,
            status: 410,
            reason: "Unregistered",
            tokenEffect: .invalid(sinceMilliseconds: 5)
        )
        let actions = desk.handle(.settled(batchID: 100, outcomes: [refused]), now: now)
        guard case .journal? = actions.first else {
            Issue.record("an answer is journaled before anything else: \(actions)")
            return
        }
        let taken = desk.takeOutcomes()
        let (batch, rows) = try #require(taken)
        #expect(batch.count == 2)
        #expect(rows == 2)
        #expect(batch.closing.map(\.holding) == [PartToken(part: 1, token: 1)])
        #expect(batch.effects.map(\.reason) == ["Unregistered"])
        var report = StoreReport()
        report.closedParts = [1]
        _ = desk.handle(.stored(report, holdings: batch.holdings, windowRows: rows), now: now)
        #expect(desk.isEmpty)
        #expect(desk.unsettled == 0)
    }

    @Test func theWindowBoundsWhatIsUnsettled() throws {
        var desk = desk(window: 10)
        let delivery = try DeskFixture.delivery()
        try send(&desk, DeskFixture.part(1, size: 6, delivery: delivery))
        #expect(desk.handle(.prepared(DeskFixture.part(2, size: 6, delivery: delivery)), now: now).isEmpty)
        let outcomes = (0..<Int32(6)).map { Outcome(index: $0, outcomeClass: .accepted, status: 200) }
        let settled = desk.handle(.settled(batchID: 100, outcomes: outcomes), now: now)
        #expect(!settled.contains { if case .mark = $0 { true } else { false } }, "not before the outcomes are stored")
        let taken = desk.takeOutcomes()
        let (batch, rows) = try #require(taken)
        var report = StoreReport()
        report.closedParts = [1]
        let stored = desk.handle(.stored(report, holdings: batch.holdings, windowRows: rows), now: now)
        #expect(stored.contains { if case .mark = $0 { true } else { false } })
    }

    @Test func unprocessedMessagesAreSentAgainSixTimesThenRetried() throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery()))
        var batchID: Int64 = 100
        var submissions = 1
        while true {
            let actions = desk.handle(
                .settled(batchID: batchID, outcomes: [Outcome(index: 0, outcomeClass: .unprocessed)]),
                now: now
            )
            let later = actions.contains { if case .resendLater = $0 { true } else { false } }
            guard later else { break }
            for case .submit(let batch) in desk.handle(.resendDue(batchID: batchID), now: now) {
                submissions += 1
                batchID = batch.id
            }
        }
        #expect(submissions == 1 + RetryPolicy.maximumUnprocessedResends)
        let taken = desk.takeOutcomes()
        let (batch, _) = try #require(taken)
        #expect(batch.count == 0)
        #expect(batch.closing.first?.retries.map(\.sequences) == [[10_000]])
        #expect(desk.unsettled == 0)
    }

    @Test(arguments: [AmbiguityPolicy.resend, .report])
    func ambiguousMessagesFollowThePolicy(_ policy: AmbiguityPolicy) throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery(policy: policy)))
        _ = desk.handle(.settled(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .ambiguous)]), now: now)
        let taken = desk.takeOutcomes()
        let (batch, _) = try #require(taken)
        switch policy {
        case .resend:
            #expect(batch.count == 0)
            #expect(batch.closing.first?.retries.count == 1)
            #expect(batch.closing.first?.resentAfterAmbiguity == 1)
        case .report:
            #expect(batch.count == 1)
            #expect(desk.counters.unknown == 1)
        }
    }

    @Test func softAnswersEndWithTheValidityAndTheAttempts() throws {
        let late = try DeskFixture.delivery(validUntilMilliseconds: now + 1_000)
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 1, delivery: late))
        let soft = Outcome(
            index: 0,
            outcomeClass: .retry,
            status: 503,
            reason: "TooManyRequests",
            retryAfterMilliseconds: 60_000,
            fault: .message
        )
        _ = desk.handle(.settled(batchID: 100, outcomes: [soft]), now: now)
        let taken = desk.takeOutcomes()
        #expect(taken?.batch.count == 1)
        try send(&desk, DeskFixture.part(2, size: 1, delivery: try DeskFixture.delivery(maxRetries: 0)))
        _ = desk.handle(.settled(batchID: 200, outcomes: [soft]), now: now)
        let second = desk.takeOutcomes()
        #expect(second?.batch.count == 1)
        #expect(desk.counters.failed == 1)
    }

    @Test func aFencedOwnerDecidesNothingButItsFactsAreKept() throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        _ = desk.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        #expect(desk.heldTokens.isEmpty)
        let outcomes = [
            Outcome(index: 0, outcomeClass: .accepted, status: 200),
            Outcome(index: 1, outcomeClass: .retry, status: 503),
            Outcome(index: 2, outcomeClass: .unprocessed),
        ]
        _ = desk.handle(.settled(batchID: 100, outcomes: outcomes), now: now)
        let taken = desk.takeOutcomes()
        let (batch, rows) = try #require(taken)
        #expect(batch.count == 1)
        #expect(batch.closing.isEmpty)
        var report = StoreReport()
        report.fencedParts = [1]
        _ = desk.handle(.stored(report, holdings: batch.holdings, windowRows: rows), now: now)
        #expect(desk.isEmpty)
        #expect(desk.unsettled == 0)
    }

    /// A child may claim a part again that was taken from it while messages of its first claim are still on the wire.
    @Test func aPartThatIsClaimedAgainIsKeptApartFromItsFirstClaim() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery()
        try send(&desk, DeskFixture.part(1, size: 2, delivery: delivery))
        _ = desk.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        var again = DeskFixture.part(1, size: 2, batch: 500, delivery: delivery)
        again.claimed = DeskFixture.claimed(1, size: 2, token: 2)
        try send(&desk, again)
        let late = Outcome(index: 0, outcomeClass: .accepted, status: 200)
        _ = desk.handle(.settled(batchID: 100, outcomes: [late]), now: now)
        let first = desk.takeOutcomes()
        let (lateBatch, lateRows) = try #require(first)
        #expect(lateBatch.holdings == [PartToken(part: 1, token: 1)])
        var fenced = StoreReport()
        fenced.fencedParts = [1]
        _ = desk.handle(.stored(fenced, holdings: lateBatch.holdings, windowRows: lateRows), now: now)
        #expect(desk.heldTokens == [PartToken(part: 1, token: 2)], "the new claim is not fenced for the old one")
        _ = desk.handle(.settled(batchID: 100, outcomes: [Outcome(index: 1, outcomeClass: .unprocessed)]), now: now)
        let answers = (0..<Int32(2)).map { Outcome(index: $0, outcomeClass: .accepted, status: 200) }
        _ = desk.handle(.settled(batchID: 500, outcomes: answers), now: now)
        let second = desk.takeOutcomes()
        let (batch, rows) = try #require(second)
        #expect(batch.closing.map(\.holding) == [PartToken(part: 1, token: 2)])
        var closed = StoreReport()
        closed.closedParts = [1]
        _ = desk.handle(.stored(closed, holdings: batch.holdings, windowRows: rows), now: now)
        #expect(desk.isEmpty)
        #expect(desk.unsettled == 0)
    }

    @Test func aMarkThatComesAfterTheLeaseSendsNothing() throws {
        var desk = desk()
        let part = DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery())
        guard case .mark(let marks)? = desk.handle(.prepared(part), now: now).first else {
            Issue.record("a mark")
            return
        }
        _ = desk.handle(.leaseValid(false), now: now)
        let late = desk.handle(.marked(marks, held: [1]), now: now)
        #expect(!late.contains { if case .submit = $0 { true } else { false } })
        let again = desk.handle(.leaseValid(true), now: now)
        #expect(again.contains { if case .mark = $0 { true } else { false } }, "it is marked and sent when it may be")
    }

    @Test func aLostLeaseTakesBackWhatWaitsInTheGateway() throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        let actions = desk.handle(.leasesLost([PartToken(part: 1, token: 1)]), now: now)
        #expect(actions.contains { if case .cancelQueued = $0 { true } else { false } })
    }

    @Test func aLostMarkSendsNothing() throws {
        var desk = desk()
        let part = DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery())
        guard case .mark(let marks)? = desk.handle(.prepared(part), now: now).first else {
            Issue.record("a mark")
            return
        }
        let actions = desk.handle(.marked(marks, held: []), now: now)
        #expect(!actions.contains { if case .submit = $0 { true } else { false } })
        #expect(desk.isEmpty)
        #expect(desk.unsettled == 0)
    }

    @Test func hurryGivesBackOnlyAfterTheOutcomesAreStored() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery()
        try send(&desk, DeskFixture.part(1, size: 2, delivery: delivery))
        _ = desk.handle(
            .settled(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted, status: 200)]),
            now: now
        )
        #expect(desk.handle(.hurry, now: now).contains { if case .cancelQueued = $0 { true } else { false } })
        let back = desk.handle(
            .settled(batchID: 100, outcomes: [Outcome(index: 1, outcomeClass: .unprocessed)]),
            now: now
        )
        #expect(!back.contains { if case .release = $0 { true } else { false } })
        let taken = desk.takeOutcomes()
        let (batch, rows) = try #require(taken)
        let stored = desk.handle(.stored(StoreReport(), holdings: batch.holdings, windowRows: rows), now: now)
        #expect(stored.contains { if case .release(let part, _) = $0 { part.part == 1 } else { false } })
        #expect(desk.isEmpty)
    }

    @Test func theJournalIsCutOnlyWhenNothingInItIsUnsettled() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery()
        try send(&desk, DeskFixture.part(1, size: 1, delivery: delivery))
        #expect(desk.handle(.journalLong, now: now).isEmpty)
        let held = desk.handle(.prepared(DeskFixture.part(2, size: 1, delivery: delivery)), now: now)
        #expect(!held.contains { if case .mark = $0 { true } else { false } }, "a quiet moment is made")
        _ = desk.handle(.settled(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .accepted)]), now: now)
        let taken = desk.takeOutcomes()
        let (batch, rows) = try #require(taken)
        var report = StoreReport()
        report.closedParts = [1]
        let stored = desk.handle(.stored(report, holdings: batch.holdings, windowRows: rows), now: now)
        #expect(stored.contains { if case .cutJournal = $0 { true } else { false } })
        let after = desk.handle(.journalCut, now: now)
        #expect(after.contains { if case .mark = $0 { true } else { false } })
    }

    @Test func nothingIsSentWhileTheLeaseIsInDoubt() throws {
        var desk = desk()
        #expect(
            desk.handle(.leaseValid(false), now: now).contains { if case .cancelQueued = $0 { true } else { false } }
        )
        #expect(
            desk.handle(.prepared(DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery())), now: now).isEmpty
        )
        let again = desk.handle(.leaseValid(true), now: now)
        #expect(again.contains { if case .mark = $0 { true } else { false } })
    }

    private func send(_ desk: inout SendDesk, _ part: PreparedPart) throws {
        let actions = desk.handle(.prepared(part), now: now)
        for case .mark(let marks) in actions {
            _ = desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
    }
}
