import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Several threads carry out the dispatch state's decisions, with a delay.
@Suite struct DispatchThreadsTests {
    private let now = DispatchFixture.start

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 4_000, maxBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) {
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
    }

    private func cancels(_ actions: [DispatchState.Action]) -> Bool {
        actions.contains { if case .cancelQueued = $0 { true } else { false } }
    }

    /// Until the database has a part that goes back, only the journal has what is known about it.
    @Test func theJournalKeepsAPartThatIsOnItsWayBack() throws {
        var dispatch = dispatch()
        let claim = PartToken(part: 1, token: 1)
        send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(.fastShutdown, now: now)
        let back = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .unprocessed, neverLeft: true)]),
            now: now
        )
        #expect(back.contains { if case .release = $0 { true } else { false } })
        #expect(dispatch.parts.isEmpty && dispatch.journaledClaims == [claim])
        _ = dispatch.handle(.released(claim), now: now)
        #expect(dispatch.journaledClaims.isEmpty)
    }

    /// Renewals and marks name only parts: with two claims of one part, the older one would seem to be held.
    @Test func aNewerClaimFencesAnOlderOneOfTheSameChild() throws {
        var dispatch = dispatch()
        let delivery = try DispatchFixture.delivery()
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: delivery))
        var again = DispatchFixture.part(1, size: 2, batch: 200, delivery: delivery)
        again.claimed = DispatchFixture.claimed(1, size: 2, token: 2)
        let actions = dispatch.handle(.prepared(again), now: now)
        #expect(cancels(actions))
        #expect(dispatch.parts[PartToken(part: 1, token: 1)]?.isFenced == true)
        #expect(dispatch.heldTokens == [PartToken(part: 1, token: 2)])
    }

    /// The recall may have overtaken the submit.
    @Test func whatIsHaltedIsAskedBackAgain() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 2, delivery: try DispatchFixture.delivery()))
        #expect(!cancels(dispatch.handle(.deliveryStates([16: .inProgress]), now: now)))
        #expect(cancels(dispatch.handle(.deliveryStates([16: .paused]), now: now)))
        #expect(cancels(dispatch.handle(.deliveryStates([16: .paused]), now: now)), "it is still in the gateway")
        #expect(!cancels(dispatch.handle(.deliveryStates([16: .paused]), now: now)), "others have messages there, too")
        _ = dispatch.handle(
            .resolved(
                batchID: 100,
                outcomes: [0, 1].map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
            ),
            now: now
        )
        #expect(!cancels(dispatch.handle(.deliveryStates([16: .paused]), now: now)))
    }
}
