import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// A gateway in trouble as the dispatch state sees it: whose attempts count, which child gives its parts back, which
/// one probes.
@Suite struct DispatchTroubleTests {
    private let now = DispatchFixture.start

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 4_000, maxBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    @discardableResult
    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) -> [DispatchState.Action] {
        carryOutMarks(dispatch.handle(.prepared(part), now: now), &dispatch)
    }

    private func carryOutMarks(_ actions: [DispatchState.Action], _ dispatch: inout DispatchState) -> [DispatchState
        .Action]
    {
        var all = actions
        for case .mark(let marks) in actions {
            all += dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
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

    private func submitted(_ actions: [DispatchState.Action]) -> [GatewayRequestBatch] {
        actions.compactMap { if case .submit(let batch) = $0 { batch } else { nil } }
    }

    private func entered(_ actions: [DispatchState.Action]) -> Bool {
        actions.contains { if case .enterTrouble = $0 { true } else { false } }
    }

    private func released(_ actions: [DispatchState.Action]) -> [PartRecovery] {
        actions.compactMap { if case .release(_, let recovery) = $0 { recovery } else { nil } }
    }

    @Test func aGatewayThatRefusesAllGetsNothingMoreAndNoMessageLosesAnAttempt() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: (0..<100).map { refusal($0) }), now: now)
        #expect(entered(actions))
        #expect(released(actions).isEmpty && dispatch.counters.counts.failed == 0 && dispatch.window.unresolved == 0)
        let closing = try #require(dispatch.outbox.take()?.batch.closing.first)
        #expect(closing.retries.flatMap(\.sequences).count == 100 && closing.ambiguous.isEmpty)
        // Others go first as probes; no child has seen others pass.
        #expect(closing.retries.allSatisfy { !$0.countsAttempt && $0.refusals == -1 })
        #expect(closing.retries.contains { $0.delayMilliseconds == 0 }, "due at once: a probe may find out with them")
    }

    @Test func aQuotaOfTheProjectLeavesPartsWhole() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery()))
        let outcomes = (0..<100).map { (index: Int32) in
            guard index >= 40 else { return accepted(index) }
            var quota = refusal(index, status: 429, reason: "RATE_LIMIT_EXCEEDED")
            quota.applicationWide = true
            return quota
        }
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        #expect(entered(actions))
        let stored = dispatch.outbox.take()
        #expect(stored?.batch.closing.isEmpty ?? true, "no retry part")
        let back = actions + dispatch.handle(.stored(StoreReport(), claims: [], windowRows: 40), now: now)
        #expect(released(back).count == 1 && dispatch.parts.isEmpty)
    }

    @Test func aQuotaThatOthersPassIsWaitedForAsLongAsTheGatewayAsks() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery()))
        let outcomes = (0..<100).map { (index: Int32) in
            guard index < 10 else { return accepted(index) }
            var quota = refusal(index, status: 429, reason: "RATE_LIMIT_EXCEEDED")
            quota.applicationWide = true
            quota.retryAfterMilliseconds = 30_000
            return quota
        }
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        let resendsSoon = actions.contains { if case .resendLater = $0 { true } else { false } }
        #expect(!entered(actions) && !resendsSoon)
        let retries = try #require(dispatch.outbox.take()?.batch.closing.first).retries
        #expect(retries.flatMap(\.sequences).count == 10 && retries.allSatisfy { $0.delayMilliseconds >= 30_000 })
    }

    @Test func whatIsLeftOfAPartGoesBackAndKnowsWhatWasRefused() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, slice: 50, delivery: try DispatchFixture.delivery()))
        var actions = dispatch.handle(.resolved(batchID: 100, outcomes: (0..<50).map { refusal($0) }), now: now)
        let unsent = (0..<Int32(50)).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
        for flight in dispatch.flights.all.map(\.batch.id) where flight != 100 {
            actions += dispatch.handle(.resolved(batchID: flight, outcomes: unsent), now: now)
        }
        #expect(entered(actions))
        let recovery = try #require(released(actions).first)
        #expect(recovery.softAnswers.count == 50 && recovery.softAnswers.allSatisfy(\.isRefusal))
        #expect(recovery.ambiguous.isEmpty && dispatch.parts.isEmpty && dispatch.flights.isEmpty)
    }

    @Test func aChildThatWaitsForTheGatewayGoesOnWhenItIsBack() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery())
        send(&dispatch, part)
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: (0..<100).map { refusal($0) }), now: now)
        #expect(
            dispatch.admission.trouble == .left && !dispatch.admission.maySend && !dispatch.admission.isShuttingDown
        )
        _ = dispatch.outbox.take()
        // It probes, and another child takes its place.
        _ = dispatch.handle(.becameProber, now: now)
        #expect(dispatch.admission.isProbingGateway && dispatch.admission.maySend)
        _ = dispatch.handle(.lostProber, now: now)
        #expect(dispatch.admission.trouble == .left && !dispatch.admission.maySend)
        _ = dispatch.handle(.troubleSeen(.opening(since: .zero, sharers: 1)), now: now)
        #expect(dispatch.admission.trouble == .none && dispatch.admission.maySend && dispatch.gateway.ramp != nil)
        #expect(!submitted(send(&dispatch, DispatchFixture.part(2, size: 10, delivery: part.delivery))).isEmpty)
    }

    // MARK: Refusals while others pass

    @Test func whatOthersWereAnsweredTellsWhoseFaultARefusalIs() throws {
        for (passes, before) in [(true, Int16(0)), (true, 4), (false, 0), (false, 4)] {
            var dispatch = dispatch()
            var part = DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery())
            part.claimed = DispatchFixture.claimed(1, size: 3, refusals: before)
            send(&dispatch, part)
            let other =
                passes ? accepted(0) : Outcome(index: 0, outcomeClass: .permanent, status: 400, reason: "BadPriority")
            let outcomes = [
                refusal(1, .server, status: 500, reason: "INTERNAL"), other, refusal(2, .message, status: 429),
            ]
            _ = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
            _ = dispatch.handle(.deliveryStates([:]), now: now)
            let closing = try #require(dispatch.outbox.take()?.batch.closing.first)
            let retry = try #require(closing.retries.first { !$0.countsAttempt })
            #expect(retry.refusals == (passes ? max(before, 1) + 1 : before == 0 ? -1 : before), "\(passes), \(before)")
        }
    }

    @Test func aTroubleBlamesNoMessageForWhatPassedJustBeforeIt() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: (0..<10).map { accepted($0) }), now: now)
        dispatch.advance(to: .milliseconds(100))
        let outcomes = (10..<Int32(100)).map { refusal($0, .server, status: 500, reason: "INTERNAL") }
        #expect(entered(dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)))
        let retries = try #require(dispatch.outbox.take()?.batch.closing.first).retries
        #expect(retries.filter { $0.refusals == -1 }.reduce(0) { $0 + $1.sequences.count } == 81)
    }

    /// One bad token in a hundred was once tried each minute for five days, each time with the application in trouble.
    @Test func aMessageThatWasRefusedWhileOthersPassedSaysNothingOfTheGateway() throws {
        for refusals in [Int16(0), 2] {
            var dispatch = dispatch()
            var part = DispatchFixture.part(1, size: 10, delivery: try DispatchFixture.delivery())
            part.claimed = DispatchFixture.claimed(1, size: 10, refusals: refusals)
            send(&dispatch, part)
            let outcomes = (0..<Int32(10)).map { refusal($0, .server, status: 500, reason: "INTERNAL") }
            #expect(entered(dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)) == (refusals == 0))
        }
    }

    @Test func messagesThatNeedACredentialWaitApartAndAllOthersGoOn() throws {
        let reason = "401 THIRD_PARTY_AUTH_ERROR"
        let wrong = { (index: Int32) in refusal(index, .credential, status: 401, reason: "THIRD_PARTY_AUTH_ERROR") }
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 60, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        // The first 47 are bad: a run of any length that is not trouble.
        var actions = dispatch.handle(.resolved(batchID: 100, outcomes: (0..<47).map(wrong)), now: now)
        dispatch.advance(to: dispatch.moment + .seconds(5))
        actions += dispatch.handle(.deliveryStates([:]), now: now)
        #expect(!entered(actions) && dispatch.admission.trouble == .none && dispatch.admission.circuit == .closed)
        let told = actions.compactMap { if case .credentialRefused(let reason) = $0 { reason } else { nil } }
        #expect(told == [reason], "once")
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: (47..<60).map { accepted($0) }), now: now)
        let closing = try #require(dispatch.outbox.take()?.batch.closing.first)
        #expect(closing.retries.map(\.waitsFor) == [reason] && closing.retries.first?.sequences.count == 47)
        #expect(dispatch.counters.counts.failed == 0 && closing.retries.allSatisfy { !$0.countsAttempt })
    }

    @Test(arguments: [true, false])
    func oneMessageFindsOutWhetherACredentialIsRight(_ isRight: Bool) throws {
        let reason = "401 THIRD_PARTY_AUTH_ERROR"
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 5, refusals: 3, waitsFor: reason)
        let batches = submitted(send(&dispatch, part))
        #expect(batches.map(\.count) == [1])
        #expect(submitted(carryOutMarks(dispatch.handle(.deliveryStates([:]), now: now), &dispatch)).isEmpty)
        let batch = try #require(batches.first)
        let answer = isRight ? accepted(0) : refusal(0, .credential, status: 401, reason: "THIRD_PARTY_AUTH_ERROR")
        let actions = carryOutMarks(
            dispatch.handle(.resolved(batchID: batch.id, outcomes: [answer]), now: now),
            &dispatch
        )
        let works = actions.compactMap { if case .credentialWorks(let reason) = $0 { reason } else { nil } }
        #expect(works == (isRight ? [reason] : []))
        #expect(submitted(actions).map(\.count) == (isRight ? [4] : []))
        guard !isRight else { return }
        let closing = try #require(dispatch.outbox.take()?.batch.closing.first)
        #expect(closing.retries.map(\.waitsFor) == [reason] && closing.retries.map(\.refusals) == [4])
        #expect(closing.retries.first?.sequences.count == 5 && dispatch.window.unresolved == 0)
    }

    @Test func probesAreSpreadOverTheirPart() {
        // 47 adjacent bad messages among 1,547 are hit now and then, not 47 times in a row.
        let places = (1...Int64(47)).map { DispatchState.place(ofProbe: $0, among: 1_547) }
        #expect(places.count { $0 < 47 } <= 3 && Set(places).count == 47)
        for count in 1...20 {
            let met = Set((1...Int64(count * 3)).map { DispatchState.place(ofProbe: $0, among: count) })
            #expect(met == Set(0..<count), "\(count)")
        }
    }

    // MARK: Missing answers

    @Test(arguments: ["MalformedAnswer", "INTERNAL_ERROR", "Timeout"])
    func whatIsNoAnswerIsTheGatewaysTroubleAndCounts(_ reason: String) throws {
        for policy in [AmbiguityPolicy.resend, .report] {
            var dispatch = dispatch()
            send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery(policy: policy)))
            let status: Int16 = reason == "MalformedAnswer" ? 200 : 0
            let outcomes = (0..<Int32(10)).map {
                Outcome(index: $0, outcomeClass: .ambiguous, status: status, reason: reason)
            }
            let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
            #expect(entered(actions) && !dispatch.admission.maySend)
            #expect(dispatch.counters.counts.unknown == (policy == .report ? 10 : 0))
            #expect(dispatch.counters.counts.retried == (policy == .report ? 0 : 10))
        }
    }

    /// All sent messages wait for their resend meanwhile, so nothing is held between two losses.
    @Test func connectionsThatEndBeforeAnythingIsAnsweredAreTroubleHoweverFarApart() throws {
        for answers in [false, true] {
            var dispatch = dispatch()
            let delivery = try DispatchFixture.delivery()
            let lost = Outcome(index: 0, outcomeClass: .ambiguous, reason: "ConnectionLost")
            send(&dispatch, DispatchFixture.part(1, size: 1, delivery: delivery))
            #expect(!entered(dispatch.handle(.resolved(batchID: 100, outcomes: [lost]), now: now)))
            _ = dispatch.outbox.take()
            _ = dispatch.handle(
                .stored(StoreReport(), claims: [], windowRows: 0),
                now: now
            )
            dispatch.advance(to: .seconds(15))
            send(&dispatch, DispatchFixture.part(2, size: 2, delivery: delivery))
            if answers { _ = dispatch.handle(.resolved(batchID: 200, outcomes: [accepted(1)]), now: now) }
            #expect(entered(dispatch.handle(.resolved(batchID: 200, outcomes: [lost]), now: now)) == !answers)
        }
    }

    @Test func aConnectionThatEndsIsOneFailureHoweverManyMessagesWereOnIt() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery()))
        let lost = { (index: Int32) in Outcome(index: index, outcomeClass: .ambiguous, reason: "ConnectionLost") }
        dispatch.advance(to: .seconds(1))
        #expect(!entered(dispatch.handle(.resolved(batchID: 100, outcomes: (0..<60).map(lost)), now: now)))
        // Repeated losses with nothing between them are trouble.
        dispatch.advance(to: .seconds(3))
        #expect(entered(dispatch.handle(.resolved(batchID: 100, outcomes: [lost(60)]), now: now)))
    }

    @Test func aFewRefusalsAmongManyWaitInAPartOfTheirOwnAndKeepTheirAttempt() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 20, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        let outcomes = [refusal(0)] + (1..<20).map { accepted($0) }
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        #expect(!entered(actions) && dispatch.counters.counts.failed == 0)
        let taken = dispatch.outbox.take()
        let closing = try #require(taken?.batch.closing.first)
        let retry = try #require(closing.retries.first)
        #expect(retry.sequences == [10_000] && !retry.countsAttempt)
        #expect((1_000...10_000).contains(retry.delayMilliseconds))
    }

    /// A read ends with a refusal, and then this process stalls for a second: the following messages decide.
    @Test func aStandstillAfterOneRefusalIsNoTrouble() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery(maxRetries: 0)
        send(&dispatch, DispatchFixture.part(1, size: 20, delivery: delivery))
        let outcomes = (1..<20).map { accepted($0) } + [refusal(0)]
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        dispatch.advance(to: dispatch.moment + .seconds(5))
        // The marks of the next part are being committed.
        let waits = dispatch.handle(.prepared(DispatchFixture.part(2, size: 20, delivery: delivery)), now: now)
        #expect(!entered(waits))
        // The first refusal after the stall is the second in a row, and the rest of its read passes: it waits as the
        // gateway asks.
        #expect(!entered(carryOutMarks(waits, &dispatch)))
        var asked = refusal(0)
        asked.retryAfterMilliseconds = 1_000
        let more = dispatch.handle(.resolved(batchID: 200, outcomes: [asked] + (1..<20).map { accepted($0) }), now: now)
        #expect(!entered(more) && submitted(more).isEmpty)
        let resendsLater = more.contains { if case .resendLater = $0 { true } else { false } }
        #expect(!resendsLater)
    }

    @Test func whatGoesBackWithItsPartWaitsAsTheGatewayHasAsked() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        var asked = refusal(0)
        asked.retryAfterMilliseconds = 30_000
        let first = dispatch.handle(.resolved(batchID: 100, outcomes: [asked]), now: now)
        #expect(!entered(first))
        let outcomes = (1..<100).map { refusal($0) }
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        let retries = try #require(dispatch.outbox.take()?.batch.closing.first).retries
        #expect(retries.contains { $0.sequences == [10_000] && $0.delayMilliseconds >= 30_000 })
    }

    @Test(arguments: [true, false])
    func anAdvisedPauseGivesWayToTheValidityAndOneThatWasAskedForDoesNot(_ isAdvice: Bool) throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery(validUntilMilliseconds: now + 30_000)
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: delivery))
        var quota = refusal(1, status: 429, reason: "RESOURCE_EXHAUSTED")
        quota.retryAfterMilliseconds = 60_000
        quota.isPauseAdvice = isAdvice
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [accepted(0), quota]), now: now)
        #expect(dispatch.counters.counts.retried == (isAdvice ? 1 : 0))
    }

    /// Firebase asks for 60 s after a quota that concerns a message, where it sends no Retry-After.
    @Test(arguments: [Int64(3_600_000), 30_000])
    func anAdvisedPauseIsTheShortestBeforeTheNextAttempt(_ validity: Int64) throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery(schedule: .exponential, validUntilMilliseconds: now + validity)
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: delivery))
        var quota = refusal(1, .message, status: 429, reason: "QUOTA_EXCEEDED")
        quota.retryAfterMilliseconds = 60_000
        quota.isPauseAdvice = true
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [accepted(0), quota]), now: now)
        let retries = try #require(dispatch.outbox.take()?.batch.closing.first).retries
        #expect(retries.count == 1)
        #expect(retries.allSatisfy { ($0.delayMilliseconds >= 60_000) == (validity > 60_000) })
    }

    @Test(arguments: [AnswerFault.foreign, .unknown, .server, .gateway])
    func aMessageThatIsRefusedWhileOthersPassFailsInTheEnd(_ fault: AnswerFault) throws {
        for refusals in [Int16(9), 10, -98, -99] {
            var dispatch = dispatch()
            var part = DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery())
            part.claimed = DispatchFixture.claimed(1, size: 2, refusals: refusals)
            send(&dispatch, part)
            _ = dispatch.handle(
                .resolved(batchID: 100, outcomes: [accepted(0), refusal(1, fault, status: 400)]),
                now: now
            )
            #expect(dispatch.counters.counts.failed == ([10, -99].contains(refusals) && fault != .gateway ? 1 : 0))
        }
    }

    @Test func anAnswerThatNobodyKnowsHoldsItsDeliveryWhileOthersPass() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 40, delivery: try DispatchFixture.delivery()))
        send(&dispatch, DispatchFixture.part(2, size: 40, delivery: try DispatchFixture.delivery(id: 32)))
        var held: [Int64] = []
        for index in Int32(0)..<20 {
            var actions = dispatch.handle(
                .resolved(batchID: 200, outcomes: [accepted(2 * index), accepted(2 * index + 1)]),
                now: now
            )
            let refused = refusal(index, .unknown, status: 400, reason: "NewReason")
            actions += dispatch.handle(.resolved(batchID: 100, outcomes: [refused]), now: now)
            for case .holdDelivery(let id, let reason) in actions {
                held.append(id)
                #expect(reason.contains("400 NewReason"))
            }
            #expect(!entered(actions))
        }
        #expect(held == [16] && dispatch.counters.counts.failed == 0)
    }

    @Test func aLimitOfOneDeviceCountsAsAnAttemptAndALimitOfAllDoesNot() throws {
        let tooMany = { (index: Int32) in refusal(index, .message, status: 429, reason: "TooManyRequests") }
        var one = dispatch()
        send(&one, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        _ = one.handle(.resolved(batchID: 100, outcomes: [tooMany(0), accepted(1)]), now: now)
        let closing = try #require(one.outbox.take()?.batch.closing.first)
        #expect(closing.retries.map(\.countsAttempt) == [true])
        var lone = dispatch()
        send(&lone, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        #expect(!entered(lone.handle(.resolved(batchID: 100, outcomes: [tooMany(0)]), now: now)))
        #expect(lone.outbox.take()?.batch.closing.first?.retries.map(\.countsAttempt) == [true])
        var all = dispatch()
        send(&all, DispatchFixture.part(1, size: 100, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        let actions = all.handle(.resolved(batchID: 100, outcomes: (0..<100).map(tooMany)), now: now)
        #expect(entered(actions) && all.counters.counts.failed == 0 && all.isEmpty && all.window.unresolved == 0)
    }

    @Test(arguments: [Duration.milliseconds(300), .milliseconds(1_200)])
    func whatWasUnderWayWhenALimitBeganSaysNothingAboutIt(_ later: Duration) throws {
        let tooMany = { (index: Int32) in refusal(index, .message, status: 429, reason: "TooManyRequests") }
        var dispatch = dispatch()
        for id in [Int64(1), 2] {
            send(&dispatch, DispatchFixture.part(id, size: 10, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        }
        let batches = dispatch.flights.all.map(\.batch.id).sorted()
        try #require(batches.count == 2)
        var actions = dispatch.handle(
            .resolved(batchID: batches[0], outcomes: (0..<3).map(tooMany) + (3..<10).map(accepted)),
            now: now
        )
        dispatch.advance(to: later)
        actions += dispatch.handle(.resolved(batchID: batches[1], outcomes: [accepted(0), accepted(1)]), now: now)
        #expect(dispatch.counters.counts.failed == (later < .seconds(1) ? 0 : 3) && !entered(actions))
        actions = dispatch.handle(.resolved(batchID: batches[1], outcomes: (2..<10).map(tooMany)), now: now)
        if later < .seconds(1) {
            #expect(entered(actions) && dispatch.counters.counts.failed == 0)
            #expect(released(actions).allSatisfy { $0.softAnswers.isEmpty && $0.ambiguous.isEmpty })
        }
    }

    @Test func lossesOfConnectionsAreTroubleAfterASecondWithoutAnAnswer() throws {
        var dispatch = dispatch()
        #expect(!entered(dispatch.handle(.gatewayFailed("refused"), now: now)), "no message waits")
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        #expect(!entered(dispatch.handle(.gatewayFailed("refused"), now: now)))
        dispatch.advance(to: .milliseconds(1_100))
        let actions = dispatch.handle(.deliveryStates([:]), now: now)
        #expect(entered(actions))
        let last = dispatch.handle(
            .resolved(
                batchID: 100,
                outcomes: (0..<2).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
            ),
            now: now
        )
        #expect(released(last).count == 1 && dispatch.isEmpty)
    }

    @Test func aProbeIsOneMessageThatNeverWasAmbiguous() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        var part = DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery())
        part.lost = [0, 1]
        #expect(submitted(send(&dispatch, part)).isEmpty, "not before it may")
        var batches = submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch))
        #expect(batches.map(\.count) == [1])
        let first = try #require(batches.first?.id)
        #expect(dispatch.flights[first]?.rows == [2])
        #expect(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).isEmpty, "one at a time")
        // The probe was refused: another message is the next one.
        _ = dispatch.handle(.resolved(batchID: first, outcomes: [refusal(0)]), now: now)
        #expect(dispatch.admission.isProbingGateway)
        #expect(submitted(dispatch.handle(.resendDue(batchID: first), now: now)).isEmpty)
        dispatch.advance(to: .seconds(4))
        batches = submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch))
        #expect(batches.map(\.count) == [1])
        let over = dispatch.handle(.resolved(batchID: batches[0].id, outcomes: [accepted(0)]), now: now)
        #expect(over.contains { if case .troubleOver = $0 { true } else { false } })
        #expect(dispatch.admission.trouble == .none && dispatch.gateway.ramp != nil)
        #expect(dispatch.counters.counts.sent == 1 && dispatch.counters.counts.retried == 1)
    }

    @Test func aProbeThatIsNotAnsweredIsAmbiguousAndTheNextOneIsAnotherMessage() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        send(&dispatch, DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery()))
        var tried: [Int32] = []
        for _ in 0..<3 {
            let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
            tried += dispatch.flights[batch.id]?.rows ?? []
            let silent = Outcome(index: 0, outcomeClass: .ambiguous, reason: AnswerTable.timeout)
            _ = dispatch.handle(.resolved(batchID: batch.id, outcomes: [silent]), now: now)
        }
        #expect(tried == [0, 1, 2] && dispatch.admission.isProbingGateway)
    }

    @Test func afterManyProbesThatFailedTheFirstSuccessEndsTheTroubleForGood() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        send(&dispatch, DispatchFixture.part(1, size: 20, delivery: try DispatchFixture.delivery()))
        for second in 1...8 {
            dispatch.advance(to: .seconds(3 * second))
            let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
            _ = dispatch.handle(.resolved(batchID: batch.id, outcomes: [refusal(0)]), now: now)
        }
        let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
        let over = dispatch.handle(.resolved(batchID: batch.id, outcomes: [accepted(0)]), now: now)
        #expect(over.contains { if case .troubleOver = $0 { true } else { false } })
        #expect(!entered(over) && dispatch.admission.trouble == .none && dispatch.admission.maySend)
    }

    @Test func ofABatchThatWasNotProcessedOneMessageProbes() throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery())
        let batch = try #require(submitted(carryOutMarks(send(&dispatch, part), &dispatch)).first)
        #expect(batch.count == 5)
        dispatch.admission.becomeProber()
        let lost = (0..<5).map { Outcome(index: $0, outcomeClass: .unprocessed) }
        _ = dispatch.handle(.resolved(batchID: batch.id, outcomes: lost), now: now)
        #expect(submitted(dispatch.handle(.resendDue(batchID: batch.id), now: now)).isEmpty, "not before it may")
        var tried: Set<Int32> = []
        for turn in 1...5 {
            dispatch.advance(to: .seconds(10 * turn))
            let probes = submitted(dispatch.handle(.probe, now: now))
            #expect(probes.map(\.count) == [1])
            let probe = try #require(probes.first)
            tried.formUnion(dispatch.flights[probe.id]?.rows ?? [])
            let refused = Outcome(index: 0, outcomeClass: .unprocessed)
            _ = dispatch.handle(.resolved(batchID: probe.id, outcomes: [refused]), now: now)
        }
        #expect(tried == [0, 1, 2, 3, 4])
    }

    @Test func aMessageThatIsAlwaysRefusedHidesNoGatewayThatIsBack() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        // One message of each part is always refused because of itself. In one part another message is probed, because
        // the part stays for an unanswered message.
        send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        var tried: [Int32] = []
        for (turn, outcome) in [Outcome(index: 0, outcomeClass: .ambiguous), refusal(0), refusal(0)].enumerated() {
            dispatch.advance(to: .seconds(turn))
            let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
            tried += dispatch.flights[batch.id]?.rows ?? []
            _ = dispatch.handle(.resolved(batchID: batch.id, outcomes: [outcome]), now: now)
            #expect(released(dispatch.handle(.probeFailed, now: now)).isEmpty, "its resend has its time")
            _ = dispatch.handle(.resendDue(batchID: batch.id), now: now)
        }
        #expect(tried == [0, 1, 2])
        // Otherwise the part goes back, so that others go first, and its next owner takes another message.
        for (token, row) in [Int64(1): Int32(0), 2: 1, 4: 2] {
            var dispatch = self.dispatch()
            dispatch.admission.becomeProber()
            var part = DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery())
            part.claimed = DispatchFixture.claimed(1, size: 3, token: token)
            send(&dispatch, part)
            let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
            #expect(dispatch.flights[batch.id]?.rows == [row])
            #expect(released(dispatch.handle(.probeFailed, now: now)).isEmpty, "it is on the wire")
            _ = dispatch.handle(.resolved(batchID: batch.id, outcomes: [refusal(0)]), now: now)
            let recovery = try #require(released(dispatch.handle(.probeFailed, now: now)).first)
            #expect(recovery.ambiguous.isEmpty && recovery.softAnswers.map(\.isRefusal) == [true])
            #expect(dispatch.isEmpty && dispatch.window.unresolved == 0 && dispatch.admission.isProbingGateway)
        }
    }

    @Test func aSliceOfMessagesThatMayHaveArrivedIsPassedByForOneThatNeverLeft() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        var part = DispatchFixture.part(1, size: 6, slice: 3, delivery: try DispatchFixture.delivery())
        part.lost = [0, 1, 2]
        send(&dispatch, part)
        let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
        #expect(dispatch.flights[batch.id]?.rows == [3])
        var actions = dispatch.handle(.resolved(batchID: batch.id, outcomes: [accepted(0)]), now: now)
        dispatch.gateway.opening(nil, at: dispatch.moment)
        while actions.contains(where: { if case .mark = $0 { true } else { false } }) {
            actions = Array(carryOutMarks(actions, &dispatch).dropFirst(actions.count))
        }
        #expect(dispatch.flights.all.flatMap(\.rows).sorted() == [0, 1, 2, 4, 5], "then all go")
    }

    @Test func aMessageThatIsUnfitHereSaysNothingOfTheGateway() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        let batch = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
        let unfit = Outcome(index: 0, outcomeClass: .permanent, reason: "PayloadTooLarge", neverLeft: true)
        _ = dispatch.handle(.resolved(batchID: batch.id, outcomes: [unfit]), now: now)
        #expect(dispatch.admission.isProbingGateway && dispatch.counters.counts.failed == 1)
    }

    /// A gateway that recovers after minutes of silence is found before the request's timeout.
    @Test func anotherMessageIsTheProbeWhenOneIsNotAnsweredForLong() throws {
        var dispatch = dispatch()
        dispatch.admission.becomeProber()
        send(&dispatch, DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery()))
        let first = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
        dispatch.advance(to: .seconds(11))
        #expect(dispatch.awaitsProbe(at: dispatch.moment), "it waits for a connection")
        let departure = GatewayDeparture(batch: first, ranges: [0..<1])
        #expect(dispatch.aboutToSend([departure], now: now, isLeaseValid: { true }) != nil)
        #expect(!dispatch.awaitsProbe(at: dispatch.moment))
        let second = try #require(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).first)
        #expect(dispatch.flights[second.id]?.rows == [1] && dispatch.awaitsProbe(at: dispatch.moment))
        #expect(submitted(carryOutMarks(dispatch.handle(.probe, now: now), &dispatch)).isEmpty)
        let late = dispatch.handle(.resolved(batchID: first.id, outcomes: [accepted(0)]), now: now)
        #expect(late.contains { if case .troubleOver = $0 { true } else { false } })
        #expect(dispatch.admission.trouble == .none && dispatch.window.inGateway == 1)
    }

    @Test func whoSeesTheTroubleOfOthersGivesEverythingBack() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        let actions = dispatch.handle(.troubleSeen(.trouble), now: now)
        #expect(!entered(actions), "it is known")
        let last = dispatch.handle(
            .resolved(
                batchID: 100,
                outcomes: (0..<3).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
            ),
            now: now
        )
        #expect(released(last).count == 1 && dispatch.isEmpty)
    }

    @Test func theRampHoldsBackWhatIsMarked() throws {
        var dispatch = dispatch()
        _ = dispatch.handle(.troubleSeen(.opening(since: .zero, sharers: 1)), now: now)
        var part = DispatchFixture.part(1, size: 3_000, slice: 1_000, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 3_000)
        var sent = 0
        var actions = send(&dispatch, part)
        sent += submitted(actions).reduce(0) { $0 + $1.count }
        #expect(sent == 1_000)
        dispatch.advance(to: .milliseconds(1_200))
        actions = carryOutMarks(dispatch.handle(.deliveryStates([:]), now: now), &dispatch)
        sent += submitted(actions).reduce(0) { $0 + $1.count }
        #expect(sent == 2_000)
        actions = carryOutMarks(dispatch.handle(.troubleSeen(.none), now: now), &dispatch)
        sent += submitted(actions).reduce(0) { $0 + $1.count }
        #expect(sent == 3_000)
    }
}
