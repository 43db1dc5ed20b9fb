import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// The dispatch state's behavior that is specific to the binary protocol.
@Suite struct DispatchBinaryTests {
    private let now = DispatchFixture.start

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 4_000, maxBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    @Test func whatAnotherMessageHasCostIsSentAgainForFree() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        var batchID: Int64 = 100
        for _ in 0..<3 * RetryPolicy.maxUnprocessedResends {
            let discarded = Outcome(index: 0, outcomeClass: .unprocessed, reason: "Discarded", isCollateral: true)
            let actions = dispatch.handle(.resolved(batchID: batchID, outcomes: [discarded]), now: now)
            #expect(actions.contains { if case .journal = $0 { true } else { false } }, "its intent is answered")
            #expect(actions.contains { if case .resendLater(_, let attempt) = $0 { attempt == 1 } else { false } })
            var again: [GatewayRequestBatch] = []
            for case .submit(let batch) in dispatch.handle(.resendDue(batchID: batchID), now: now) {
                again.append(batch)
            }
            batchID = try #require(again.first).id
            #expect(again.count == 1)
            let departure = GatewayDeparture(batch: again[0], ranges: [0..<1])
            #expect(dispatch.aboutToSend([departure], now: now, isLeaseValid: { true }) != nil)
        }
        _ = dispatch.handle(
            .resolved(batchID: batchID, outcomes: [Outcome(index: 0, outcomeClass: .accepted)]),
            now: now
        )
        #expect(dispatch.counters.counts.sent == 1 && dispatch.counters.counts.retried == 0)
    }

    @Test func messagesWithoutAStatusCountAgainstAMassFailure() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1_000, delivery: try DispatchFixture.delivery()))
        // One bad token in eight: no mix-up, if the seven accepted ones are counted.
        let outcomes = (0..<Int32(1_000)).map { index in
            index % 8 == 0
                ? Outcome(
                    index: index,
                    outcomeClass: .permanent,
                    status: 8,
                    reason: "InvalidToken",
                    tokenEffect: .invalid(sinceMilliseconds: nil),
                    isTokenDoubtful: true
                ) : Outcome(index: index, outcomeClass: .accepted)
        }
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        #expect(!actions.contains { if case .openCircuit = $0 { true } else { false } })
        #expect(dispatch.counters.counts.sent == 875)
    }

    /// A gateway without statuses says of its refusals that they are answers.
    @Test(arguments: [true, false])
    func anOutcomeSaysWhetherItIsAnAnswer(_ isAnswer: Bool) throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        let refused = Outcome(index: 0, outcomeClass: .permanent, reason: "Gone", isAnswer: isAnswer)
        _ = dispatch.handle(.resolved(batchID: 100, outcomes: [refused]), now: now)
        #expect(dispatch.guards.application.answersInWindow == (isAnswer ? 1 : 0))
    }

    @Test func largeMessagesFillTheWindowSooner() throws {
        let delivery = try DispatchFixture.delivery()
        let part = DispatchFixture.part(1, size: 1_000, slice: 100, delivery: delivery)
        let bytes = part.slices[0].batch.byteCount
        var dispatch = DispatchState(
            window: DispatchWindow(size: 4_000, maxBytes: bytes * 3),
            batchSize: 1_000,
            applicationID: 1
        )
        var actions = dispatch.handle(.prepared(part), now: now)
        var sent = 0
        for _ in 0..<20 {
            var marks: [PartMark] = []
            for case .mark(let some) in actions { marks += some }
            guard !marks.isEmpty else { break }
            actions = dispatch.handle(.marked(marks, held: [1]), now: now)
            sent = dispatch.window.inGateway
        }
        #expect((200...300).contains(sent), "\(sent) messages of 1,000: the bytes of three slices")
        // The answers free room, and one slice may always leave.
        let outcomes = (0..<Int32(100)).map { Outcome(index: $0, outcomeClass: .accepted, reason: "Silence") }
        let next = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        #expect(next.contains { if case .mark = $0 { true } else { false } })
        var tight = DispatchState(window: DispatchWindow(size: 4_000, maxBytes: 1), batchSize: 1_000, applicationID: 1)
        let first = tight.handle(
            .prepared(DispatchFixture.part(1, size: 1_000, slice: 100, delivery: delivery)),
            now: now
        )
        #expect(first.contains { if case .mark(let marks) = $0 { marks.count == 1 } else { false } })
    }

    @Test func whatSilenceAcceptedIsJournaledAndStoredWithItsReason() throws {
        var dispatch = dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 1_000, delivery: try DispatchFixture.delivery()))
        let outcomes = (0..<Int32(1_000)).map { index in
            Outcome(index: index, outcomeClass: .accepted, reason: index < 400 ? "" : "Silence")
        }
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: outcomes), now: now)
        var journal: [UInt8] = []
        for case .journal(let bytes) in actions { journal += bytes }
        var reasons: [String] = []
        for case .answers(_, _, _, let answers) in try DispatchFixture.records(journal) {
            reasons += answers.map(\.reason)
        }
        #expect(reasons.count { $0 == "Silence" } == 600 && reasons.count { $0.isEmpty } == 400)
        let taken = dispatch.outbox.take()
        let batch = try #require(taken?.batch)
        #expect(batch.rows.isEmpty && batch.runs.count == 2, "columns and no rows: \(batch.runs.count) runs")
        #expect(batch.allRows.count { $0.reason == "Silence" } == 600)
    }

    @Test func aNoticeIsShownForAWhileAndStopsNothing() {
        var trouble = GatewayTrouble()
        let start = ContinuousClock.now
        let event = GatewayEvent(.unproved, message: "600 messages")
        #expect(trouble.notice() == nil)
        trouble.note(event, at: start)
        #expect(trouble.connection == nil && trouble.application == nil)
        #expect(trouble.notice(at: start + .seconds(599)) == event)
        #expect(trouble.notice(at: start + .seconds(601)) == nil)
    }

    /// For a gateway that accepts messages silently.
    private func silentDispatch() -> DispatchState {
        var dispatch = dispatch()
        let limits = GatewayLimits(maxPayloadBytes: 2_048, maxUnresolvedMessages: 700, maxSilence: nil)
        _ = dispatch.handle(.gatewayOpened(limits, .apnsBinary), now: now)
        return dispatch
    }

    @Test func aGatewayMayHaveAWindowOfItsOwn() {
        let dispatch = silentDispatch()
        #expect(dispatch.window.size == 700 && dispatch.window.ceiling == 700)
    }

    @Test(arguments: [true, false])
    func silenceIsNoFailureWhereItIsTheAnswer(_ isSilent: Bool) throws {
        var dispatch = isSilent ? silentDispatch() : dispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        var actions: [DispatchState.Action] = []
        for second in 1...20 {
            dispatch.advance(to: .seconds(second))
            actions += dispatch.handle(.deliveryStates([:]), now: now)
        }
        let isInTrouble = actions.contains { if case .enterTrouble = $0 { true } else { false } }
        #expect(isInTrouble != isSilent)
    }

    @Test func anOutcomeOfNobodysFaultSaysNothingOfTheGateway() throws {
        for (fault, isWell) in [(AnswerFault.none, true), (.ambiguous, false)] {
            var dispatch = dispatch()
            try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
            let lost = Outcome(
                index: 0,
                outcomeClass: .ambiguous,
                reason: AnswerTable.connectionLost,
                fault: fault
            )
            _ = dispatch.handle(.resolved(batchID: 100, outcomes: [lost]), now: now)
            #expect(dispatch.gateway.detector.isWell == isWell)
        }
    }

    @Test func aGatewayThatSaysThatItIsWellEndsItsFailures() throws {
        var dispatch = silentDispatch()
        try send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(.gatewayFailed("refused"), now: now)
        #expect(!dispatch.gateway.detector.isWell)
        _ = dispatch.handle(.gatewayReached, now: now)
        #expect(dispatch.gateway.detector.isWell)
    }

    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) throws {
        let actions = dispatch.handle(.prepared(part), now: now)
        for case .mark(let marks) in actions {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
    }
}
