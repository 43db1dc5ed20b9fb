import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Push tokens that are refused, one or nearly all of them, in deliveries that are too small to fill the guard's window.
@Suite struct SendDeskMassFailureTests {
    private let now = DeskFixture.start

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
        _ desk: inout SendDesk,
        _ part: PreparedPart,
        refused: Int
    ) -> [SendDesk.Action] {
        for case .mark(let marks) in desk.handle(.prepared(part), now: now) {
            _ = desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
        var actions: [SendDesk.Action] = []
        for index in 0..<Int32(part.sequences.count) {
            let outcome = index < refused ? doubtful(index) : accepted(index)
            actions += desk.handle(.settled(batchID: part.claimed.id * 100, outcomes: [outcome]), now: now)
        }
        return actions
    }

    private func openings(_ actions: [SendDesk.Action]) -> [String] {
        actions.compactMap { if case .openCircuit(let reason, true) = $0 { reason } else { nil } }
    }

    private func desk() -> SendDesk { SendDesk(window: 4_000, batchSize: 1_000, applicationID: 1) }

    @Test func aSmallDeliveryOfTheOtherEnvironmentFailsNoMessage() throws {
        var desk = desk()
        let actions = send(&desk, DeskFixture.part(1, size: 80, delivery: try DeskFixture.delivery()), refused: 80)
        #expect(openings(actions) == ["the gateway refused the push tokens of 80 of the last 80 messages"])
        #expect(actions.contains { if case .putAside(_, _, nil) = $0 { true } else { false } })
        #expect(desk.counters.failed == 0 && desk.outcomes.isEmpty && desk.unsettled == 0 && desk.parts.isEmpty)
    }

    @Test func soDoesOneOfWhichAFewAreOfTheRightOne() throws {
        var desk = desk()
        let actions = send(&desk, DeskFixture.part(1, size: 80, delivery: try DeskFixture.delivery()), refused: 17)
        #expect(openings(actions).count == 1)
        #expect(desk.counters.failed == 0 && desk.counters.sent == 63)
    }

    @Test(arguments: [1, 10, 16]) func aShareThatMayBeFails(_ refused: Int) throws {
        var desk = desk()
        let part = DeskFixture.part(1, size: refused == 1 ? 1 : 80, delivery: try DeskFixture.delivery())
        let actions = send(&desk, part, refused: refused)
        #expect(openings(actions).isEmpty)
        #expect(desk.counters.failed == refused)
        #expect(desk.outcomes.count == part.sequences.count)
    }

    @Test func singleMessagesAreRefusedUntilTheyAreTooMany() throws {
        var desk = desk()
        let delivery = try DeskFixture.delivery()
        for id in 1...Int64(MassFailureGuard.fewest) {
            #expect(openings(send(&desk, DeskFixture.part(id, size: 1, delivery: delivery), refused: 1)).isEmpty)
            #expect(desk.counters.failed == id, "it does not wait for others")
        }
        #expect(openings(send(&desk, DeskFixture.part(99, size: 1, delivery: delivery), refused: 1)).count == 1)
        #expect(desk.counters.failed == MassFailureGuard.fewest)
    }

    @Test func whatAnOperatorBelievesFails() throws {
        var desk = desk()
        var part = DeskFixture.part(1, size: 200, delivery: try DeskFixture.delivery())
        part.claimed = DeskFixture.claimed(1, size: 200, believesRefusals: true)
        #expect(openings(send(&desk, part, refused: 200)).isEmpty)
        #expect(desk.counters.failed == 200)
        let taken = desk.takeOutcomes()
        let (batch, _) = try #require(taken)
        #expect(batch.effects.count == 200 && batch.closing.count == 1)
    }
}
