import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Refused push tokens, one or nearly all, in deliveries too small to fill the guard's window.
@Suite struct DispatchMassFailureTests {
    private let now = DispatchFixture.start

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

    private func accepted(_ index: Int32) -> Outcome { Outcome(index: index, outcomeClass: .accepted, status: 200) }

    /// Sends a part and answers its messages one by one, the refused ones first.
    private func send(
        _ dispatch: inout DispatchState,
        _ part: PreparedPart,
        refused: Int
    ) -> [DispatchState.Action] {
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
        var actions: [DispatchState.Action] = []
        for index in 0..<Int32(part.sequences.count) {
            let outcome = index < refused ? doubtful(index) : accepted(index)
            actions += dispatch.handle(.resolved(batchID: part.claimed.id * 100, outcomes: [outcome]), now: now)
        }
        return actions
    }

    private func openings(_ actions: [DispatchState.Action]) -> [String] {
        actions.compactMap { if case .openCircuit(let reason, true) = $0 { reason } else { nil } }
    }

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 4_000, maxBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    @Test func aSmallDeliveryOfTheOtherEnvironmentFailsNoMessage() throws {
        var dispatch = dispatch()
        let actions = send(
            &dispatch,
            DispatchFixture.part(1, size: 80, delivery: try DispatchFixture.delivery()),
            refused: 80
        )
        #expect(openings(actions) == ["the gateway refused the push tokens of 80 of the last 80 messages"])
        #expect(actions.contains { if case .putAside(_, _, nil) = $0 { true } else { false } })
        #expect(
            dispatch.counters.counts.failed == 0 && dispatch.outbox.outcomes.isEmpty && dispatch.window.unresolved == 0
                && dispatch.parts.isEmpty
        )
    }

    @Test func soDoesOneOfWhichAFewAreOfTheRightOne() throws {
        var dispatch = dispatch()
        let actions = send(
            &dispatch,
            DispatchFixture.part(1, size: 80, delivery: try DispatchFixture.delivery()),
            refused: 17
        )
        #expect(openings(actions).count == 1)
        #expect(dispatch.counters.counts.failed == 0 && dispatch.counters.counts.sent == 63)
    }

    @Test(arguments: [1, 10, 16]) func aShareThatMayBeFails(_ refused: Int) throws {
        var dispatch = dispatch()
        let part = DispatchFixture.part(1, size: refused == 1 ? 1 : 80, delivery: try DispatchFixture.delivery())
        let actions = send(&dispatch, part, refused: refused)
        #expect(openings(actions).isEmpty)
        #expect(dispatch.counters.counts.failed == refused)
        #expect(dispatch.outbox.outcomes.count == part.sequences.count)
    }

    @Test func singleMessagesAreRefusedUntilTheyAreTooMany() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery()
        for id in 1...Int64(MassFailureGuard.fewest) {
            #expect(
                openings(send(&dispatch, DispatchFixture.part(id, size: 1, delivery: delivery), refused: 1)).isEmpty
            )
            #expect(dispatch.counters.counts.failed == id, "it does not wait for others")
        }
        #expect(openings(send(&dispatch, DispatchFixture.part(99, size: 1, delivery: delivery), refused: 1)).count == 1)
        #expect(dispatch.counters.counts.failed == MassFailureGuard.fewest)
    }

    @Test func whatAnOperatorBelievesFails() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 200, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 200, believesRefusals: true)
        #expect(openings(send(&dispatch, part, refused: 200)).isEmpty)
        #expect(dispatch.counters.counts.failed == 200)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        #expect(batch.effects.count == 200 && batch.closing.count == 1)
    }
}
