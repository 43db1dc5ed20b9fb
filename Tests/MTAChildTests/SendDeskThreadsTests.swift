import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// What the desk decides is carried out by several threads, and a moment later.
@Suite struct SendDeskThreadsTests {
    private let now = DeskFixture.start

    private func desk() -> SendDesk { SendDesk(window: 4_000, batchSize: 1_000, applicationID: 1) }

    private func send(_ desk: inout SendDesk, _ part: PreparedPart) {
        for case .mark(let marks) in desk.handle(.prepared(part), now: now) {
            _ = desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
    }

    private func cuts(_ actions: [SendDesk.Action]) -> Bool {
        actions.contains { if case .cutJournal = $0 { true } else { false } }
    }

    private func cancels(_ actions: [SendDesk.Action]) -> Bool {
        actions.contains { if case .cancelQueued = $0 { true } else { false } }
    }

    /// A second cut, carried out after messages have left again, would take their intents.
    @Test func theJournalIsCutOnceForEachOrder() throws {
        var desk = desk()
        #expect(cuts(desk.handle(.journalLong, now: now)))
        let part = DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery())
        let meanwhile = [SendDesk.Event.leaseValid(true), .deliveryStates([:]), .prepared(part)]
        for event in meanwhile { #expect(!cuts(desk.handle(event, now: now))) }
        let after = desk.handle(.journalCut, now: now)
        #expect(after.contains { if case .mark = $0 { true } else { false } })
        #expect(cuts(desk.handle(.markFailed, now: now)) == false)
    }

    /// What is known of a part that goes back stands in the journal only, until the database has it.
    @Test func theJournalStaysWhileAPartIsOnItsWayBack() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery()))
        _ = desk.handle(.hurry, now: now)
        _ = desk.handle(.journalLong, now: now)
        let back = desk.handle(
            .settled(batchID: 100, outcomes: [Outcome(index: 0, outcomeClass: .unprocessed, neverLeft: true)]),
            now: now
        )
        #expect(back.contains { if case .release = $0 { true } else { false } })
        #expect(!cuts(back) && desk.releasing == [PartToken(part: 1, token: 1)])
        // That may last: others go on meanwhile, and the cut is asked for again later.
        #expect(back.contains { if case .cutJournalLater = $0 { true } else { false } })
        #expect(!cuts(desk.handle(.released(PartToken(part: 1, token: 1)), now: now)))
        #expect(desk.releasing.isEmpty)
        #expect(cuts(desk.handle(.journalLong, now: now)))
    }

    /// Renewals and marks name parts only: with two claims of one part the older would seem to be held.
    @Test func aNewerClaimFencesAnOlderOneOfTheSameChild() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery()
        send(&desk, DeskFixture.part(1, size: 2, delivery: delivery))
        var again = DeskFixture.part(1, size: 2, batch: 200, delivery: delivery)
        again.claimed = DeskFixture.claimed(1, size: 2, token: 2)
        let actions = desk.handle(.prepared(again), now: now)
        #expect(cancels(actions))
        #expect(desk.parts[PartToken(part: 1, token: 1)]?.isFenced == true)
        #expect(desk.heldTokens == [PartToken(part: 1, token: 2)])
    }

    /// The order to give back may have overtaken the order to submit.
    @Test func whatIsHaltedIsAskedBackAgain() throws {
        var desk = desk()
        send(&desk, DeskFixture.part(1, size: 2, delivery: try DeskFixture.delivery()))
        #expect(!cancels(desk.handle(.deliveryStates([16: .inProgress]), now: now)))
        #expect(cancels(desk.handle(.deliveryStates([16: .paused]), now: now)))
        #expect(cancels(desk.handle(.deliveryStates([16: .paused]), now: now)), "it is still in the gateway")
        #expect(!cancels(desk.handle(.deliveryStates([16: .paused]), now: now)), "others have messages there, too")
        _ = desk.handle(
            .settled(
                batchID: 100,
                outcomes: [0, 1].map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
            ),
            now: now
        )
        #expect(!cancels(desk.handle(.deliveryStates([16: .paused]), now: now)))
    }
}
