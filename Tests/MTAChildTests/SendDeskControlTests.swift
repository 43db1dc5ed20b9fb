import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Pauses, stops, validity, the circuit, and the last moment before messages leave.
@Suite struct SendDeskControlTests {
    private let now = DeskFixture.start
    private let first = PartToken(part: 1, token: 1)

    private func desk() -> SendDesk { SendDesk(window: 4_000, batchSize: 1_000, applicationID: 1) }

    private func send(_ desk: inout SendDesk, _ part: PreparedPart) {
        for case .mark(let marks) in desk.handle(.prepared(part), now: now) {
            _ = desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
    }

    private func leaves(_ desk: inout SendDesk, _ batch: Int64, at time: Int64? = nil, lease: Bool = true) -> Bool {
        guard let flight = desk.flights[batch] else { return false }
        let departure = GatewayDeparture(batch: flight.batch, ranges: [0..<Int32(flight.batch.count)])
        return desk.departing([departure], now: time ?? now, isLeaseValid: { lease }) != nil
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

    private func store(_ desk: inout SendDesk, closed: [Int64]) -> (OutcomeBatch, [SendDesk.Action])? {
        guard let (batch, rows) = desk.takeOutcomes() else { return nil }
        var report = StoreReport()
        report.closedParts = closed
        return (batch, desk.handle(.stored(report, holdings: batch.holdings, windowRows: rows), now: now))
    }

    private func submissions(_ actions: [SendDesk.Action]) -> [GatewayRequestBatch] {
        actions.compactMap { if case .submit(let batch) = $0 { batch } else { nil } }
    }

    // MARK: The last moment

    @Test func aLeaseThatIsOverKeepsEverythingBackUntilItIsRenewed() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        #expect(!leaves(&desk, 100, lease: false))
        let back = desk.handle(.settled(batchID: 100, outcomes: unsent(3)), now: now)
        #expect(!back.contains { if case .journal = $0 { true } else { false } }, "the journal never knew of them")
        #expect(submissions(desk.handle(.resendDue(batchID: 100), now: now)).isEmpty)
        let again = submissions(desk.handle(.leaseValid(true), now: now))
        #expect(again.map(\.count) == [3])
        #expect(leaves(&desk, 100))
    }

    @Test func whatNeverLeftIsSentAgainForFree() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery()))
        for _ in 0..<20 {
            let back = desk.handle(.settled(batchID: 100, outcomes: unsent(1)), now: now)
            #expect(submissions(back).isEmpty, "not at once: that would be a busy loop")
            #expect(submissions(desk.handle(.resendDue(batchID: 100), now: now)).count == 1)
        }
        #expect(desk.flights[100]?.attempt == 1)
    }

    @Test func anIntentOfAMessageThatDidNotLeaveIsTakenBack() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        #expect(leaves(&desk, 100))
        let back = desk.handle(.settled(batchID: 100, outcomes: unsent(2)), now: now)
        guard case .journal(let bytes)? = back.first, case .answers(_, _, _, let answers)? = try records(bytes).first
        else {
            Issue.record("the journal has to know: \(back)")
            return
        }
        #expect(answers.map(\.outcomeClass) == [.unprocessed, .unprocessed])
    }

    private func records(_ bytes: [UInt8]) throws -> [JournalRecord] { try DeskFixture.records(bytes) }

    // MARK: Deliveries

    @Test func aPausedDeliveryIsGivenBackAfterItsOutcomesAreStored() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        #expect(leaves(&desk, 100))
        let paused = desk.handle(.deliveryStates([16: .paused]), now: now)
        #expect(paused.contains { if case .cancelQueued = $0 { true } else { false } })
        #expect(!leaves(&desk, 100))
        _ = desk.handle(.settled(batchID: 100, outcomes: [accepted(0)]), now: now)
        let settled = desk.handle(
            .settled(batchID: 100, outcomes: [Outcome(index: 1, outcomeClass: .ambiguous)] + [unsent(3)[2]]),
            now: now
        )
        #expect(!settled.contains { if case .release = $0 { true } else { false } })
        let (_, stored) = try #require(store(&desk, closed: []))
        let releases = stored.compactMap { if case .release(_, let recovery) = $0 { recovery } else { nil } }
        #expect(releases.map(\.ambiguous) == [[10_001]])
        #expect(releases.map(\.softAnswers.count) == [0], "what may have arrived stays in doubt")
        #expect(desk.isEmpty && desk.unsettled == 0)
    }

    @Test func aPauseThatIsOverSoonSendsTheRest() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        #expect(leaves(&desk, 100))
        _ = desk.handle(.deliveryStates([16: .paused]), now: now)
        _ = desk.handle(.settled(batchID: 100, outcomes: [unsent(3)[2]]), now: now)
        _ = desk.handle(.resendDue(batchID: 100), now: now)
        let resumed = desk.handle(.deliveryStates([16: .inProgress]), now: now)
        #expect(submissions(resumed).map(\.count) == [1])
    }

    @Test func aStoppedDeliveryEndsWithTheRestAndWithWhatIsUnknown() throws {
        var desk = desk()
        var part = DeskFixture.part(1, size: 5, delivery: try DeskFixture.delivery())
        part.lost = [4]
        part.resent = 1
        send(&desk, part)
        _ = desk.handle(.deliveryStates([16: .stopped]), now: now)
        let answers = [
            accepted(0), Outcome(index: 1, outcomeClass: .ambiguous),
            Outcome(index: 2, outcomeClass: .retry, status: 503),
        ]
        _ = desk.handle(.settled(batchID: 100, outcomes: answers + unsent(5)[3...]), now: now)
        let (batch, actions) = try #require(store(&desk, closed: [1]))
        let end = try #require(batch.closing.first)
        #expect(end.restStatus == .canceled && end.restReason == "stopped")
        #expect(end.ambiguous == [10_001], "on record; what an earlier owner left in doubt is so already")
        #expect(end.resentAfterAmbiguity == 0, "nothing was sent again")
        let rows = Dictionary(uniqueKeysWithValues: batch.allRows.map { ($0.sequence, $0.status) })
        #expect(rows == [10_000: .sent, 10_001: .unknown, 10_004: .unknown])
        #expect(!actions.contains { if case .release = $0 { true } else { false } })
        #expect(desk.isEmpty && desk.unsettled == 0)
    }

    @Test(arguments: [DeliveryState.paused, .stopped])
    func aPartThatComesTooLateIsNotSent(_ state: DeliveryState) throws {
        var desk = desk()
        var part = DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery())
        part.claimed = DeskFixture.claimed(1, size: 2, state: state)
        let actions = desk.handle(.prepared(part), now: now)
        #expect(!actions.contains { if case .mark = $0 { true } else { false } })
        if state == .paused {
            #expect(actions.contains { if case .release = $0 { true } else { false } })
        } else {
            let (batch, _) = try #require(store(&desk, closed: [1]))
            #expect(batch.closing.first?.restStatus == .canceled)
        }
        #expect(desk.isEmpty)
    }

    @Test func afterItsValidityNothingLeavesAndTheRestIsIgnored() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery(validUntilMilliseconds: now + 100)
        send(&desk, DeskFixture.part(1, size: 2, delivery: delivery))
        #expect(!leaves(&desk, 100, at: now + 101))
        _ = desk.handle(.settled(batchID: 100, outcomes: unsent(2)), now: now + 101)
        let (batch, _) = try #require(store(&desk, closed: [1]))
        #expect(batch.count == 0)
        #expect(batch.closing.first?.restStatus == .ignored)
        #expect(batch.closing.first?.restReason == "expired")
        #expect(desk.isEmpty && desk.unsettled == 0)
    }

    @Test func aMessageOfItsOwnHasItsOwnEnd() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery(validUntilMilliseconds: now + 10_000)
        var part = DeskFixture.part(1, size: 1, delivery: delivery)
        part.claimed = DeskFixture.claimed(1, size: 1, validUntilMilliseconds: now + 100)
        send(&desk, part)
        send(&desk, DeskFixture.part(2, size: 1, delivery: delivery))
        #expect(!leaves(&desk, 100, at: now + 101))
        #expect(leaves(&desk, 200, at: now + 101), "another one of the delivery has the delivery's")
        _ = desk.handle(.settled(batchID: 100, outcomes: unsent(1)), now: now + 101)
        _ = desk.handle(.settled(batchID: 200, outcomes: [accepted(0)]), now: now + 101)
        let (batch, _) = try #require(store(&desk, closed: [1, 2]))
        let ends = Dictionary(uniqueKeysWithValues: batch.closing.map { ($0.holding.part, $0.restStatus) })
        #expect(ends == [1: .ignored, 2: nil] && batch.count == 1)
        #expect(desk.isEmpty && desk.unsettled == 0)
    }

    @Test func aMessageThatHasExpiredWhenItIsLoadedIsNotSent() throws {
        var desk = desk()
        var part = DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery())
        part.claimed = DeskFixture.claimed(1, size: 1, validUntilMilliseconds: now - 1)
        let actions = desk.handle(.prepared(part), now: now)
        #expect(!actions.contains { if case .mark = $0 { true } else { false } })
        let (batch, _) = try #require(store(&desk, closed: [1]))
        #expect(batch.closing.first?.restStatus == .ignored && batch.closing.first?.restReason == "expired")
        #expect(desk.isEmpty)
    }

    @Test func anUrgentPartPassesThoseThatWait() throws {
        var desk = SendDesk(window: 2, batchSize: 1_000, applicationID: 1)
        let delivery = try DeskFixture.delivery()
        send(&desk, DeskFixture.part(1, size: 6, slice: 2, delivery: delivery))
        send(&desk, DeskFixture.part(2, size: 1, delivery: delivery))
        for id in [Int64(3), 4] {
            var part = DeskFixture.part(id, size: 1, delivery: delivery)
            part.claimed = DeskFixture.claimed(id, size: 1, priority: 50)
            send(&desk, part)
        }
        #expect(desk.waiting.map(\.part) == [3, 4, 1, 2])
    }

    // MARK: The application

    @Test func aProjectWide429CostsNoAttempt() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery(maxRetries: 0)))
        let refused = Outcome(
            index: 0,
            outcomeClass: .retry,
            status: 429,
            retryAfterMilliseconds: 30_000,
            applicationWide: true
        )
        let actions = desk.handle(.settled(batchID: 100, outcomes: [accepted(1), refused]), now: now)
        let waits = actions.compactMap { if case .enterTrouble(_, let wait) = $0 { wait } else { nil } }
        #expect(waits == [.seconds(30)])
        #expect(submissions(desk.handle(.resendDue(batchID: 100), now: now)).isEmpty)
        #expect(desk.counters.failed == 0 && desk.counters.retried == 0)
    }

    @Test func aStopOpensTheCircuitAndFailsNothing() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery(maxRetries: 0)))
        let stop = Outcome(index: 0, outcomeClass: .stopApplication, status: 403, reason: "InvalidProviderToken")
        let actions = desk.handle(.settled(batchID: 100, outcomes: [stop]), now: now)
        let reasons = actions.compactMap { if case .openCircuit(let reason, _) = $0 { reason } else { nil } }
        #expect(reasons == ["403 InvalidProviderToken"])
        let last = desk.handle(.settled(batchID: 100, outcomes: unsent(2).suffix(1)), now: now)
        #expect(last.contains { if case .release = $0 { true } else { false } })
        #expect(desk.isEmpty && desk.unsettled == 0 && desk.outcomes.isEmpty)
    }

    @Test func aMixUpFailsNoMessageAndLosesNoToken() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 200, delivery: try DeskFixture.delivery()))
        var opened: [Bool] = []
        for index in 0..<Int32(200) {
            for case .openCircuit(_, let holds) in desk.handle(
                .settled(batchID: 100, outcomes: [doubtful(index)]),
                now: now
            ) { opened.append(holds) }
        }
        #expect(opened == [true])
        #expect(desk.outcomes.isEmpty && desk.counters.failed == 0)
        #expect(desk.isEmpty && desk.unsettled == 0, "all of it went back")
    }

    @Test func aFewBadTokensAreDecidedWhenNothingMoreComes() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 3, delivery: try DeskFixture.delivery()))
        _ = desk.handle(.settled(batchID: 100, outcomes: [doubtful(0), accepted(1)]), now: now)
        #expect(desk.outcomes.count == 1)
        _ = desk.handle(.settled(batchID: 100, outcomes: [accepted(2)]), now: now)
        let (batch, _) = try #require(store(&desk, closed: [1]))
        #expect(batch.count == 3 && batch.effects.count == 1 && batch.closing.count == 1)
        #expect(desk.isEmpty && desk.unsettled == 0)
    }

    @Test func aProbeIsOneMessageAtATimeUntilOneGetsThrough() throws {
        var desk = desk()
        var part = DeskFixture.part(1, size: 50, delivery: try DeskFixture.delivery())
        part.claimed = DeskFixture.claimed(1, size: 50, isProbe: true)
        send(&desk, part)
        #expect(desk.inGateway == 1)
        let probe = try #require(desk.flights.keys.first)
        let next = desk.handle(
            .settled(batchID: probe, outcomes: [Outcome(index: 0, outcomeClass: .retry, status: 503)]),
            now: now
        )
        for case .mark(let marks) in next {
            #expect(marks.map(\.through) == [2])
            _ = desk.handle(.marked(marks, held: [1]), now: now)
        }
        #expect(desk.inGateway == 1)
        let second = try #require(desk.flights.keys.first)
        let through = desk.handle(.settled(batchID: second, outcomes: [accepted(0)]), now: now)
        #expect(through.contains { if case .closeCircuit = $0 { true } else { false } })
        for case .mark(let marks) in through { _ = desk.handle(.marked(marks, held: [1]), now: now) }
        #expect(desk.inGateway == 48)
    }

    @Test func aProbeThatIsStoppedOpensTheCircuitAgain() throws {
        var desk = desk()
        var part = DeskFixture.part(1, size: 50, delivery: try DeskFixture.delivery())
        part.claimed = DeskFixture.claimed(1, size: 50, isProbe: true)
        send(&desk, part)
        #expect(desk.handle(.circuitFoundOpen, now: now).isEmpty, "it is open because of this probe")
        let probe = try #require(desk.flights.keys.first)
        let stop = Outcome(index: 0, outcomeClass: .stopApplication, status: 403)
        let actions = desk.handle(.settled(batchID: probe, outcomes: [stop]), now: now)
        #expect(actions.contains { if case .openCircuit = $0 { true } else { false } })
        #expect(actions.contains { if case .release = $0 { true } else { false } })
    }
}
