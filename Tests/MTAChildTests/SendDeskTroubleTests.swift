import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// A gateway's bad day as the desk sees it: whose attempts count, who leaves, who probes.
@Suite struct SendDeskTroubleTests {
    private let now = DeskFixture.start

    private func desk() -> SendDesk { SendDesk(window: 4_000, batchSize: 1_000, applicationID: 1) }

    @discardableResult
    private func send(_ desk: inout SendDesk, _ part: PreparedPart) -> [SendDesk.Action] {
        carryOutMarks(desk.handle(.prepared(part), now: now), &desk)
    }

    private func carryOutMarks(_ actions: [SendDesk.Action], _ desk: inout SendDesk) -> [SendDesk.Action] {
        var all = actions
        for case .mark(let marks) in actions {
            all += desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
        return all
    }

    private func refusal(
        _ index: Int32,
        _ fault: AnswerFault = .gateway,
        status: Int16 = 503,
        reason: String = "ServiceUnavailable"
    ) -> Outcome {
        Outcome(index: index, outcomeClass: .retry, status: status, reason: reason, fault: fault)
    }

    private func accepted(_ index: Int32) -> Outcome { Outcome(index: index, outcomeClass: .accepted, status: 200) }

    private func submitted(_ actions: [SendDesk.Action]) -> [GatewayRequestBatch] {
        actions.compactMap { if case .submit(let batch) = $0 { batch } else { nil } }
    }

    private func entered(_ actions: [SendDesk.Action]) -> Bool {
        actions.contains { if case .enterTrouble = $0 { true } else { false } }
    }

    private func released(_ actions: [SendDesk.Action]) -> [PartRecovery] {
        actions.compactMap { if case .release(_, let recovery) = $0 { recovery } else { nil } }
    }

    @Test func aGatewayThatRefusesAllGetsNothingMoreAndNoMessageLosesAnAttempt() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 100, delivery: try DeskFixture.delivery(maxRetries: 0)))
        let actions = desk.handle(.settled(batchID: 100, outcomes: (0..<100).map { refusal($0) }), now: now)
        #expect(entered(actions))
        let recovery = try #require(released(actions).first)
        #expect(recovery.softAnswers.isEmpty && recovery.ambiguous.isEmpty, "as if they had never been tried")
        #expect(desk.counters.failed == 0 && desk.isEmpty && desk.unsettled == 0 && desk.outcomes.isEmpty)
    }

    @Test func aFewRefusalsAmongManyWaitInAPartOfTheirOwnAndKeepTheirAttempt() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 20, delivery: try DeskFixture.delivery(maxRetries: 0)))
        let outcomes = [refusal(0)] + (1..<20).map { accepted($0) }
        let actions = desk.handle(.settled(batchID: 100, outcomes: outcomes), now: now)
        #expect(!entered(actions) && desk.counters.failed == 0)
        let taken = desk.takeOutcomes()
        let closing = try #require(taken?.batch.closing.first)
        let retry = try #require(closing.retries.first)
        #expect(retry.sequences == [10_000] && !retry.countsAttempt)
        #expect((1_000...10_000).contains(retry.delayMilliseconds))
    }

    @Test(arguments: [true, false])
    func anAdvisedPauseGivesWayToTheValidityAndOneThatWasAskedForDoesNot(_ isAdvice: Bool) throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery(validUntilMilliseconds: now + 30_000)
        send(&desk, DeskFixture.part(1, size: 2, delivery: delivery))
        var quota = refusal(1, status: 429, reason: "RESOURCE_EXHAUSTED")
        quota.retryAfterMilliseconds = 60_000
        quota.isPauseAdvice = isAdvice
        _ = desk.handle(.settled(batchID: 100, outcomes: [accepted(0), quota]), now: now)
        #expect(desk.counters.retried == (isAdvice ? 1 : 0))
    }

    @Test(arguments: [AnswerFault.foreign, .unknown, .gateway])
    func aLoneMessageFailsInTheEndOnlyWhereNobodyKnowsWhy(_ fault: AnswerFault) throws {
        for refusals in [Int16(8), 9] {
            var desk = desk()
            var part = DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery())
            part.claimed = DeskFixture.claimed(1, size: 2, refusals: refusals)
            send(&desk, part)
            _ = desk.handle(.settled(batchID: 100, outcomes: [accepted(0), refusal(1, fault, status: 400)]), now: now)
            #expect(desk.counters.failed == (refusals == 9 && fault != .gateway ? 1 : 0))
        }
    }

    @Test func anAnswerThatNobodyKnowsHoldsItsDeliveryWhileOthersPass() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 40, delivery: try DeskFixture.delivery()))
        send(&desk, DeskFixture.part(2, size: 40, delivery: try DeskFixture.delivery(id: 32)))
        var held: [Int64] = []
        for index in Int32(0)..<20 {
            var actions = desk.handle(
                .settled(batchID: 200, outcomes: [accepted(2 * index), accepted(2 * index + 1)]),
                now: now
            )
            let refused = refusal(index, .unknown, status: 400, reason: "NewReason")
            actions += desk.handle(.settled(batchID: 100, outcomes: [refused]), now: now)
            for case .holdDelivery(let id, let reason) in actions {
                held.append(id)
                #expect(reason.contains("400 NewReason"))
            }
            #expect(!entered(actions))
        }
        #expect(held == [16] && desk.counters.failed == 0)
    }

    @Test func aLimitOfOneDeviceCountsAsAnAttemptAndALimitOfAllDoesNot() throws {
        let tooMany = { (index: Int32) in refusal(index, .message, status: 429, reason: "TooManyRequests") }
        var one = desk()
        send(&one, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        _ = one.handle(.settled(batchID: 100, outcomes: [tooMany(0), accepted(1)]), now: now)
        let closing = try #require(one.takeOutcomes()?.batch.closing.first)
        #expect(closing.retries.map(\.countsAttempt) == [true])
        var lone = desk()
        send(&lone, DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery()))
        #expect(!entered(lone.handle(.settled(batchID: 100, outcomes: [tooMany(0)]), now: now)))
        #expect(lone.takeOutcomes()?.batch.closing.first?.retries.map(\.countsAttempt) == [true])
        var all = desk()
        send(&all, DeskFixture.part(1, size: 100, delivery: try DeskFixture.delivery(maxRetries: 0)))
        let actions = all.handle(.settled(batchID: 100, outcomes: (0..<100).map(tooMany)), now: now)
        #expect(entered(actions) && all.counters.failed == 0 && all.isEmpty && all.unsettled == 0)
    }

    @Test(arguments: [Duration.milliseconds(300), .milliseconds(1_200)])
    func whatWasUnderWayWhenALimitBeganSaysNothingAboutIt(_ later: Duration) throws {
        let tooMany = { (index: Int32) in refusal(index, .message, status: 429, reason: "TooManyRequests") }
        var desk = desk()
        for id in [Int64(1), 2] {
            send(&desk, DeskFixture.part(id, size: 10, delivery: try DeskFixture.delivery(maxRetries: 0)))
        }
        let batches = desk.flights.keys.sorted()
        try #require(batches.count == 2)
        var actions = desk.handle(
            .settled(batchID: batches[0], outcomes: (0..<3).map(tooMany) + (3..<10).map(accepted)),
            now: now
        )
        desk.moment = later
        actions += desk.handle(.settled(batchID: batches[1], outcomes: [accepted(0), accepted(1)]), now: now)
        #expect(desk.counters.failed == (later < .seconds(1) ? 0 : 3) && !entered(actions))
        actions = desk.handle(.settled(batchID: batches[1], outcomes: (2..<10).map(tooMany)), now: now)
        if later < .seconds(1) {
            #expect(entered(actions) && desk.counters.failed == 0)
            #expect(released(actions).allSatisfy { $0.softAnswers.isEmpty && $0.ambiguous.isEmpty })
        }
    }

    @Test func lossesOfConnectionsAreTroubleAfterASecondWithoutAnAnswer() throws {
        var desk = desk()
        #expect(!entered(desk.handle(.gatewayFailed("refused"), now: now)), "nobody waits")
        send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        #expect(!entered(desk.handle(.gatewayFailed("refused"), now: now)))
        desk.moment = .milliseconds(1_100)
        let actions = desk.handle(.deliveryStates([:]), now: now)
        #expect(entered(actions))
        let last = desk.handle(
            .settled(
                batchID: 100,
                outcomes: (0..<2).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
            ),
            now: now
        )
        #expect(released(last).count == 1 && desk.isEmpty)
    }

    @Test func aProbeIsOneMessageThatNeverWasAmbiguous() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        var part = DeskFixture.part(1, size: 5, delivery: try DeskFixture.delivery())
        part.lost = [0, 1]
        #expect(submitted(send(&desk, part)).isEmpty, "not before it may")
        var batches = submitted(carryOutMarks(desk.handle(.probe, now: now), &desk))
        #expect(batches.map(\.count) == [1])
        let first = try #require(batches.first?.id)
        #expect(desk.flights[first]?.rows == [2])
        #expect(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).isEmpty, "one at a time")
        // Refused: the same message is the next probe, as it has not arrived.
        _ = desk.handle(.settled(batchID: first, outcomes: [refusal(0)]), now: now)
        #expect(desk.isProbingTrouble)
        #expect(submitted(desk.handle(.resendDue(batchID: first), now: now)).isEmpty)
        desk.moment = .seconds(4)
        batches = submitted(carryOutMarks(desk.handle(.probe, now: now), &desk))
        #expect(batches.map(\.count) == [1])
        let over = desk.handle(.settled(batchID: batches[0].id, outcomes: [accepted(0)]), now: now)
        #expect(over.contains { if case .troubleOver = $0 { true } else { false } })
        #expect(desk.trouble == .none && desk.ramp != nil)
        #expect(desk.counters.sent == 1 && desk.counters.retried == 0)
    }

    @Test func aProbeThatIsNotAnsweredIsAmbiguousAndTheNextOneIsAnotherMessage() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        send(&desk, DeskFixture.part(1, size: 5, delivery: try DeskFixture.delivery()))
        var tried: [Int32] = []
        for _ in 0..<3 {
            let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
            tried += desk.flights[batch.id]?.rows ?? []
            let silent = Outcome(index: 0, outcomeClass: .ambiguous, reason: AnswerTable.timeout)
            _ = desk.handle(.settled(batchID: batch.id, outcomes: [silent]), now: now)
        }
        #expect(tried == [0, 1, 2] && desk.isProbingTrouble)
    }

    @Test func afterManyProbesThatFailedTheFirstSuccessEndsTheTroubleForGood() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        send(&desk, DeskFixture.part(1, size: 20, delivery: try DeskFixture.delivery()))
        for second in 1...8 {
            desk.moment = .seconds(3 * second)
            let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
            _ = desk.handle(.settled(batchID: batch.id, outcomes: [refusal(0)]), now: now)
        }
        let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
        let over = desk.handle(.settled(batchID: batch.id, outcomes: [accepted(0)]), now: now)
        #expect(over.contains { if case .troubleOver = $0 { true } else { false } })
        #expect(!entered(over) && desk.trouble == .none && desk.maySend)
    }

    @Test func aMessageThatIsAlwaysRefusedHidesNoGatewayThatIsBack() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        // One message of each part is refused for its own sake. In one part another is probed, as the part stays for what was not answered.
        send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        var tried: [Int32] = []
        for (turn, outcome) in [Outcome(index: 0, outcomeClass: .ambiguous), refusal(0), refusal(0)].enumerated() {
            desk.moment = .seconds(turn)
            let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
            tried += desk.flights[batch.id]?.rows ?? []
            _ = desk.handle(.settled(batchID: batch.id, outcomes: [outcome]), now: now)
            #expect(released(desk.handle(.probeFailed, now: now)).isEmpty, "its resend has its time")
            _ = desk.handle(.resendDue(batchID: batch.id), now: now)
        }
        #expect(tried == [0, 1, 2])
        // Otherwise the part goes back, for others to go first, and its next owner takes another message.
        for (token, row) in [Int64(1): Int32(0), 2: 1, 4: 0] {
            var desk = self.desk()
            desk.trouble = .probing(mayProbe: false)
            var part = DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery())
            part.claimed = DeskFixture.claimed(1, size: 3, token: token)
            send(&desk, part)
            let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
            #expect(desk.flights[batch.id]?.rows == [row])
            #expect(released(desk.handle(.probeFailed, now: now)).isEmpty, "it is on the wire")
            _ = desk.handle(.settled(batchID: batch.id, outcomes: [refusal(0)]), now: now)
            let recovery = try #require(released(desk.handle(.probeFailed, now: now)).first)
            #expect(recovery.ambiguous.isEmpty && recovery.softAnswers.isEmpty)
            #expect(desk.isEmpty && desk.unsettled == 0 && desk.isProbingTrouble)
        }
    }

    @Test func aSliceOfMessagesThatMayHaveArrivedIsPassedByForOneThatNeverLeft() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        var part = DeskFixture.part(1, size: 6, slice: 3, delivery: try DeskFixture.delivery())
        part.lost = [0, 1, 2]
        send(&desk, part)
        let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
        #expect(desk.flights[batch.id]?.rows == [3])
        var actions = desk.handle(.settled(batchID: batch.id, outcomes: [accepted(0)]), now: now)
        desk.ramp = nil
        while actions.contains(where: { if case .mark = $0 { true } else { false } }) {
            actions = Array(carryOutMarks(actions, &desk).dropFirst(actions.count))
        }
        #expect(desk.flights.values.flatMap(\.rows).sorted() == [0, 1, 2, 4, 5], "then all go")
    }

    @Test func aMessageThatIsUnfitHereSaysNothingOfTheGateway() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        let batch = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
        let unfit = Outcome(index: 0, outcomeClass: .permanent, reason: "PayloadTooLarge", neverLeft: true)
        _ = desk.handle(.settled(batchID: batch.id, outcomes: [unfit]), now: now)
        #expect(desk.isProbingTrouble && desk.counters.failed == 1)
    }

    /// Who was silent for minutes and is back is found before the request's timeout.
    @Test func anotherMessageIsTheProbeWhenOneIsNotAnsweredForLong() throws {
        var desk = desk()
        desk.trouble = .probing(mayProbe: false)
        send(&desk, DeskFixture.part(1, size: 5, delivery: try DeskFixture.delivery()))
        let first = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
        desk.moment = .seconds(11)
        #expect(desk.awaitsProbe, "it waits for a connection")
        let departure = GatewayDeparture(batch: first, ranges: [0..<1])
        #expect(desk.departing([departure], now: now, isLeaseValid: { true }) != nil)
        #expect(!desk.awaitsProbe)
        let second = try #require(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).first)
        #expect(desk.flights[second.id]?.rows == [1] && desk.awaitsProbe)
        #expect(submitted(carryOutMarks(desk.handle(.probe, now: now), &desk)).isEmpty)
        let late = desk.handle(.settled(batchID: first.id, outcomes: [accepted(0)]), now: now)
        #expect(late.contains { if case .troubleOver = $0 { true } else { false } })
        #expect(desk.trouble == .none && desk.inGateway == 1)
    }

    @Test func whoSeesTheTroubleOfOthersGivesEverythingBack() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        let actions = desk.handle(.troubleSeen(.trouble), now: now)
        #expect(!entered(actions), "it is known")
        let last = desk.handle(
            .settled(
                batchID: 100,
                outcomes: (0..<3).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
            ),
            now: now
        )
        #expect(released(last).count == 1 && desk.isEmpty)
    }

    @Test func theRampHoldsBackWhatIsMarked() throws {
        var desk = desk()
        _ = desk.handle(.troubleSeen(.opening(since: .zero, sharers: 1)), now: now)
        var part = DeskFixture.part(1, size: 3_000, slice: 1_000, delivery: try DeskFixture.delivery())
        part.claimed = DeskFixture.claimed(1, size: 3_000)
        var sent = 0
        var actions = send(&desk, part)
        sent += submitted(actions).reduce(0) { $0 + $1.count }
        #expect(sent == 1_000)
        desk.moment = .milliseconds(1_200)
        actions = carryOutMarks(desk.handle(.deliveryStates([:]), now: now), &desk)
        sent += submitted(actions).reduce(0) { $0 + $1.count }
        #expect(sent == 2_000)
        actions = carryOutMarks(desk.handle(.troubleSeen(.none), now: now), &desk)
        sent += submitted(actions).reduce(0) { $0 + $1.count }
        #expect(sent == 3_000)
    }
}
