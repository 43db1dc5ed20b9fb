import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Pauses, stops, validity, the circuit, and the last check before messages leave.
@Suite struct DispatchControlTests {
    private let now = DispatchFixture.start
    private let first = PartToken(part: 1, token: 1)

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 4_000, maxBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) {
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
    }

    private func leaves(_ dispatch: inout DispatchState, _ batch: Int64, at time: Int64? = nil, lease: Bool = true)
        -> Bool
    {
        guard let flight = dispatch.flights[batch] else { return false }
        let departure = GatewayDeparture(batch: flight.batch, ranges: [0..<Int32(flight.batch.count)])
        return dispatch.aboutToSend([departure], now: time ?? now, isLeaseValid: { lease }) != nil
    }

    private func unsent(_ count: Int) -> [Outcome] {
        (0..<Int32(count)).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
    }

    private func accepted(_ index: Int32) -> Outcome { Outcome(index: index, outcomeClass: .accepted, status: 200) }

    private func doubtful(_ index: Int32) -> Outcome {
        Outcome(
            index: index,
            outcomeClass: .permanent,
            status: 400,
            reason: "BadDeviceToken",
            tokenEffect: .invalid(sinceMilliseconds: nil),
            isTokenDoubtful: true
        )
    }

    private func store(_ dispatch: inout DispatchState, closed: [Int64]) -> (OutcomeBatch, [DispatchState.Action])? {
        guard let (batch, rows) = dispatch.outbox.take() else { return nil }
        var report = StoreReport()
        report.closedParts = closed
        return (batch, dispatch.handle(.stored(report, claims: batch.claims, windowRows: rows), now: now))
    }

    private func submissions(_ actions: [DispatchState.Action]) -> [GatewayRequestBatch] {
        actions.compactMap { if case .submit(let batch) = $0 { batch } else { nil } }
    }

    // MARK: The last check

    @Test func aLeaseThatIsOverKeepsEverythingBackUntilItIsRenewed() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        #expect(!leaves(&dispatch, 100, lease: false))
        let back = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(3)), now: now)
        #expect(!back.contains { if case .journal = $0 { true } else { false } }, "the journal never knew of them")
        #expect(submissions(dispatch.handle(.resendDue(batchID: 100), now: now)).isEmpty)
        let again = submissions(dispatch.handle(.leaseValid(true), now: now))
        #expect(again.map(\.count) == [3])
        #expect(leaves(&dispatch, 100))
    }

    @Test func whatNeverLeftIsSentAgainForFree() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        for _ in 0..<20 {
            let back = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(1)), now: now)
            #expect(submissions(back).isEmpty, "not at once: that would be a busy loop")
            #expect(submissions(dispatch.handle(.resendDue(batchID: 100), now: now)).count == 1)
        }
        #expect(dispatch.flights[100]?.attempt == 1)
    }

    @Test func anIntentOfAMessageThatDidNotLeaveIsTakenBack() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        #expect(leaves(&dispatch, 100))
        let back = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(2)), now: now)
        guard case .journal(let bytes)? = back.first, case .answers(_, _, _, let answers)? = try records(bytes).first
        else {
            Issue.record("the journal has to know: \(back)")
            return
        }
        #expect(answers.map(\.outcomeClass) == [.unprocessed, .unprocessed])
    }

    private func records(_ bytes: [UInt8]) throws -> [JournalRecord] { try DispatchFixture.records(bytes) }

    // MARK: Deliveries

    @Test func aPausedDeliveryIsGivenBackAfterItsOutcomesAreStored() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        #expect(leaves(&dispatch, 100))
        let paused = dispatch.handle(.deliveryStates([16: .paused]), now: now)
        #expect(paused.contains { if case .cancelQueued = $0 { true } else { false } })
        #expect(!leaves(&dispatch, 100))
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [accepted(0)]), now: now)
        let resolved = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 1, outcomeClass: .ambiguous)] + [unsent(3)[2]]),
            now: now
        )
        #expect(!resolved.contains { if case .release = $0 { true } else { false } })
        let (_, stored) = try #require(store(&dispatch, closed: []))
        let releases = stored.compactMap { if case .release(_, let recovery) = $0 { recovery } else { nil } }
        #expect(releases.map(\.ambiguous) == [[10_001]])
        #expect(releases.map(\.softAnswers.count) == [0], "what may have arrived stays ambiguous")
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test func aPauseThatIsOverSoonSendsTheRest() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        #expect(leaves(&dispatch, 100))
        _ = dispatch.handle(.deliveryStates([16: .paused]), now: now)
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [unsent(3)[2]]), now: now)
        _ = dispatch.handle(.resendDue(batchID: 100), now: now)
        let resumed = dispatch.handle(.deliveryStates([16: .inProgress]), now: now)
        #expect(submissions(resumed).map(\.count) == [1])
    }

    @Test func aStoppedDeliveryEndsWithTheRestAndWithWhatIsUnknown() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 5, delivery: try DispatchFixture.delivery())
        part.lost = [4]
        part.resent = 1
        send(&dispatch, part)
        _ = dispatch.handle(.deliveryStates([16: .stopped]), now: now)
        let answers = [
            accepted(0), Outcome(index: 1, outcomeClass: .ambiguous),
            Outcome(index: 2, outcomeClass: .retry, status: 503),
        ]
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: answers + unsent(5)[3...]), now: now)
        let (batch, actions) = try #require(store(&dispatch, closed: [1]))
        let end = try #require(batch.closing.first)
        #expect(end.restStatus == .canceled && end.restReason == "stopped")
        #expect(end.ambiguous == [10_001], "on record; what an earlier owner left ambiguous is so already")
        #expect(end.resentAfterAmbiguity == 0, "nothing was sent again")
        let rows = Dictionary(uniqueKeysWithValues: batch.allRows.map { ($0.sequence, $0.status) })
        #expect(rows == [10_000: .sent, 10_001: .unknown, 10_004: .unknown])
        #expect(!actions.contains { if case .release = $0 { true } else { false } })
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test(arguments: [DeliveryState.paused, .stopped])
    func aPartThatComesTooLateIsNotSent(_ state: DeliveryState) throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 2, state: state)
        let actions = dispatch.handle(.prepared(part), now: now)
        #expect(!actions.contains { if case .mark = $0 { true } else { false } })
        if state == .paused {
            #expect(actions.contains { if case .release = $0 { true } else { false } })
        } else {
            let (batch, _) = try #require(store(&dispatch, closed: [1]))
            #expect(batch.closing.first?.restStatus == .canceled)
        }
        #expect(dispatch.isEmpty)
    }

    @Test func afterItsValidityNothingLeavesAndTheRestIsIgnored() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery(validUntilMilliseconds: now + 100)
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: delivery))
        #expect(!leaves(&dispatch, 100, at: now + 101))
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(2)), now: now + 101)
        let (batch, _) = try #require(store(&dispatch, closed: [1]))
        #expect(batch.count == 0)
        #expect(batch.closing.first?.restStatus == .ignored)
        #expect(batch.closing.first?.restReason == "expired")
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test func aMessageOfItsOwnHasItsOwnEnd() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery(validUntilMilliseconds: now + 10_000)
        var part = DispatchFixture.part(1, size: 1, delivery: delivery)
        part.claimed = DispatchFixture.claimed(1, size: 1, validUntilMilliseconds: now + 100)
        send(&dispatch, part)
        send(&dispatch, DispatchFixture.part(2, size: 1, delivery: delivery))
        #expect(!leaves(&dispatch, 100, at: now + 101))
        #expect(leaves(&dispatch, 200, at: now + 101), "another one of the delivery has the delivery's")
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(1)), now: now + 101)
        _ = dispatch.handle(.resolved(batchID: 200, outcomes: [accepted(0)]), now: now + 101)
        let (batch, _) = try #require(store(&dispatch, closed: [1, 2]))
        let ends = Dictionary(uniqueKeysWithValues: batch.closing.map { ($0.claim.part, $0.restStatus) })
        #expect(ends == [1: .ignored, 2: nil] && batch.count == 1)
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test func aMessageThatHasExpiredWhenItIsLoadedIsNotSent() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 1, validUntilMilliseconds: now - 1)
        let actions = dispatch.handle(.prepared(part), now: now)
        #expect(!actions.contains { if case .mark = $0 { true } else { false } })
        let (batch, _) = try #require(store(&dispatch, closed: [1]))
        #expect(batch.closing.first?.restStatus == .ignored && batch.closing.first?.restReason == "expired")
        #expect(dispatch.isEmpty)
    }

    @Test func afterItsSendingHoursWhatHasNotLeftGoesBack() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery()
        var part = DispatchFixture.part(1, size: 3, delivery: delivery)
        part.claimed = DispatchFixture.claimed(1, size: 3, closesAtMilliseconds: now + 100)
        send(&dispatch, part)
        send(&dispatch, DispatchFixture.part(2, size: 1, delivery: delivery))
        #expect(!leaves(&dispatch, 100, at: now + 100), "the hours have ended")
        #expect(leaves(&dispatch, 200, at: now + 101), "another part of the delivery has no hours")
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(3)), now: now + 101)
        #expect(actions.contains { if case .release(let claim, _) = $0 { claim.part == 1 } else { false } })
        _ = dispatch.handle(.resolved(batchID: 200, outcomes: [accepted(0)]), now: now + 102)
        let (batch, _) = try #require(store(&dispatch, closed: [2]))
        #expect(batch.count == 1 && batch.closing.map(\.claim.part) == [2], "the first part does not end")
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test func aPartWhoseHoursHaveEndedWhenItIsLoadedGoesBack() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 1, closesAtMilliseconds: now - 1)
        let actions = dispatch.handle(.prepared(part), now: now)
        #expect(!actions.contains { if case .mark = $0 { true } else { false } })
        #expect(actions.contains { if case .release = $0 { true } else { false } })
        #expect(dispatch.isEmpty)
    }

    @Test func anUrgentPartPassesThoseThatWait() throws {
        var dispatch = DispatchState(
            window: DispatchWindow(size: 2, maxBytes: .max),
            batchSize: 1_000,
            applicationID: 1
        )
        let delivery = try DispatchFixture.delivery()
        send(&dispatch, DispatchFixture.part(1, size: 6, slice: 2, delivery: delivery))
        send(&dispatch, DispatchFixture.part(2, size: 1, delivery: delivery))
        for id in [Int64(3), 4] {
            var part = DispatchFixture.part(id, size: 1, delivery: delivery)
            part.claimed = DispatchFixture.claimed(id, size: 1, priority: 50)
            send(&dispatch, part)
        }
        #expect(dispatch.waiting.map(\.part) == [3, 4, 1, 2])
    }

    // MARK: The application

    @Test func aProjectWide429CostsNoAttempt() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        let refused = Outcome(
            index: 0,
            outcomeClass: .retry,
            status: 429,
            retryAfterMilliseconds: 30_000,
            applicationWide: true
        )
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: [accepted(1), refused]), now: now)
        let waits = actions.compactMap { if case .enterTrouble(_, let wait) = $0 { wait } else { nil } }
        #expect(waits == [.seconds(30)])
        #expect(submissions(dispatch.handle(.resendDue(batchID: 100), now: now)).isEmpty)
        #expect(dispatch.counters.counts.failed == 0 && dispatch.counters.counts.retried == 0)
    }

    @Test func aStopOpensTheCircuitAndFailsNothing() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery(maxRetries: 0)))
        let stop = Outcome(index: 0, outcomeClass: .stopApplication, status: 403, reason: "InvalidProviderToken")
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: [stop]), now: now)
        let reasons = actions.compactMap { if case .openCircuit(let reason, _) = $0 { reason } else { nil } }
        #expect(reasons == ["403 InvalidProviderToken"])
        let last = dispatch.handle(.resolved(batchID: 100, outcomes: unsent(2).suffix(1)), now: now)
        #expect(last.contains { if case .release = $0 { true } else { false } })
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0 && dispatch.outbox.outcomes.isEmpty)
    }

    @Test func aMixUpFailsNoMessageAndLosesNoToken() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 200, delivery: try DispatchFixture.delivery()))
        var opened: [Bool] = []
        for index in 0..<Int32(200) {
            for case .openCircuit(_, let holds) in dispatch.handle(
                .resolved(batchID: 100, outcomes: [doubtful(index)]),
                now: now
            ) { opened.append(holds) }
        }
        #expect(opened == [true])
        #expect(dispatch.outbox.outcomes.isEmpty && dispatch.counters.counts.failed == 0)
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0, "all of it went back")
    }

    @Test func aFewBadTokensAreDecidedWhenNothingMoreComes() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 3, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [doubtful(0), accepted(1)]), now: now)
        #expect(dispatch.outbox.outcomes.count == 1)
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [accepted(2)]), now: now)
        let (batch, _) = try #require(store(&dispatch, closed: [1]))
        #expect(batch.count == 3 && batch.effects.count == 1 && batch.closing.count == 1)
        #expect(dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test func aProbeIsOneMessageAtATimeUntilOneGetsThrough() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 50, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 50, isProbe: true)
        send(&dispatch, part)
        #expect(dispatch.window.inGateway == 1)
        let probe = try #require(dispatch.flights.all.map(\.batch.id).first)
        let next = dispatch.handle(
            .resolved(batchID: probe, outcomes: [Outcome(index: 0, outcomeClass: .retry, status: 503)]),
            now: now
        )
        for case .mark(let marks) in next {
            #expect(marks.map(\.through) == [2])
            _ = dispatch.handle(.marked(marks, held: [1]), now: now)
        }
        #expect(dispatch.window.inGateway == 1)
        let second = try #require(dispatch.flights.all.map(\.batch.id).first)
        let through = dispatch.handle(.resolved(batchID: second, outcomes: [accepted(0)]), now: now)
        #expect(through.contains { if case .closeCircuit = $0 { true } else { false } })
        for case .mark(let marks) in through { _ = dispatch.handle(.marked(marks, held: [1]), now: now) }
        #expect(dispatch.window.inGateway == 48)
    }

    @Test func aProbeThatIsStoppedOpensTheCircuitAgain() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 50, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 50, isProbe: true)
        send(&dispatch, part)
        #expect(dispatch.handle(.circuitFoundOpen, now: now).isEmpty, "it is open because of this probe")
        let probe = try #require(dispatch.flights.all.map(\.batch.id).first)
        let stop = Outcome(index: 0, outcomeClass: .stopApplication, status: 403)
        let actions = dispatch.handle(.resolved(batchID: probe, outcomes: [stop]), now: now)
        #expect(actions.contains { if case .openCircuit = $0 { true } else { false } })
        #expect(actions.contains { if case .release = $0 { true } else { false } })
    }
}
