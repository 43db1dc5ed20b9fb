import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// What the binary protocol alone brings to the desk.
@Suite struct SendDeskBinaryTests {
    private let now = DeskFixture.start

    private func desk() -> SendDesk { SendDesk(window: 4_000, batchSize: 1_000, applicationID: 1) }

    @Test func whatAnotherMessageHasCostIsSentAgainForFree() throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 1, delivery: try DeskFixture.delivery()))
        var batchID: Int64 = 100
        for _ in 0..<3 * RetryPolicy.maximumUnprocessedResends {
            let discarded = Outcome(index: 0, outcomeClass: .unprocessed, reason: "Discarded", isCollateral: true)
            let actions = desk.handle(.settled(batchID: batchID, outcomes: [discarded]), now: now)
            #expect(actions.contains { if case .journal = $0 { true } else { false } }, "its intent is answered")
            #expect(actions.contains { if case .resendLater(_, let attempt) = $0 { attempt == 1 } else { false } })
            var again: [GatewayRequestBatch] = []
            for case .submit(let batch) in desk.handle(.resendDue(batchID: batchID), now: now) { again.append(batch) }
            batchID = try #require(again.first).id
            #expect(again.count == 1)
            let departure = GatewayDeparture(batch: again[0], ranges: [0..<1])
            #expect(desk.departing([departure], now: now, isLeaseValid: { true }) != nil)
        }
        _ = desk.handle(.settled(batchID: batchID, outcomes: [Outcome(index: 0, outcomeClass: .accepted)]), now: now)
        #expect(desk.counters.sent == 1 && desk.counters.retried == 0)
    }

    @Test func messagesWithoutAStatusCountAgainstAMassFailure() throws {
        var desk = desk()
        try send(&desk, DeskFixture.part(1, size: 1_000, delivery: try DeskFixture.delivery()))
        // One bad token in eight: no mix-up, if the seven that were taken are counted.
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
        let actions = desk.handle(.settled(batchID: 100, outcomes: outcomes), now: now)
        #expect(!actions.contains { if case .openCircuit = $0 { true } else { false } })
        #expect(desk.counters.sent == 875)
    }

    private func send(_ desk: inout SendDesk, _ part: PreparedPart) throws {
        let actions = desk.handle(.prepared(part), now: now)
        for case .mark(let marks) in actions {
            _ = desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
    }
}
