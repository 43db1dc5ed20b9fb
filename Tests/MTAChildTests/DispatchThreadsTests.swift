import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// What the dispatch state decides is carried out by several threads, and a moment later.
@Suite struct DispatchThreadsTests {
    private let now = DispatchFixture.start

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(most: 4_000, mostBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) {
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
    }

    private func cuts(_ actions: [DispatchState.Action]) -> Bool {
        actions.contains { if case .cutJournal = $0 { true } else { false } }
    }

    private func cancels(_ actions: [DispatchState.Action]) -> Bool {
        actions.contains { if case .cancelQueued = $0 { true } else { false } }
    }

    /// A second cut, carried out after messages have left again, would take their intents.
    @Test func theJournalIsCutOnceForEachOrder() throws {
        var dispatch = dispatch()
        #expect(cuts(dispatch.handle(.journalLong, now: now)))
        let part = DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery())
        let meanwhile = [DispatchState.Event.leaseValid(true), .deliveryStates([:]), .prepared(part)]
        for event in meanwhile { #expect(!cuts(dispatch.handle(event, now: now))) }
        let after = dispatch.handle(.journalCut, now: now)
        #expect(after.contains { if case .mark = $0 { true } else { false } })
        #expect(cuts(dispatch.handle(.markFailed, now: now)) == false)
    }

    /// What is known of a part that goes back stands in the journal only, until the database has it.
    @Test func theJournalStaysWhileAPartIsOnItsWayBack() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 1, delivery: try DispatchFixture.delivery()))
        _ = dispatch.handle(.fastShutdown, now: now)
        _ = dispatch.handle(.journalLong, now: now)
        let back = dispatch.handle(
            .resolved(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .unprocessed, neverLeft: true)]),
            now: now
        )
        #expect(back.contains { if case .release = $0 { true } else { false } })
        #expect(!cuts(back) && dispatch.endings.releasing == [PartToken(part: 1, token: 1)])
        // That may last: others go on meanwhile, and the cut is asked for again later.
        #expect(back.contains { if case .cutJournalLater = $0 { true } else { false } })
        #expect(!cuts(dispatch.handle(.released(PartToken(part: 1, token: 1)), now: now)))
        #expect(dispatch.endings.releasing.isEmpty)
        #expect(cuts(dispatch.handle(.journalLong, now: now)))
    }

    /// Renewals and marks name parts only: with two claims of one part the older would seem to be held.
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

    /// The order to give back may have overtaken the order to submit.
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
