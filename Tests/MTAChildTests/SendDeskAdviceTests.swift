import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// Pauses that the gateway has not asked for, but its documents advise.
@Suite struct SendDeskAdviceTests {
    @Test(arguments: [true, false])
    func anAdvisedPauseGivesWayToTheValidity(_ isAdvice: Bool) throws {
        let now = DeskFixture.start
        var desk = SendDesk(window: 4_000, batchSize: 1_000, applicationID: 1)
        let delivery = try DeskFixture.delivery(validUntilMilliseconds: now + 600_000)
        for case .mark(let marks) in desk.handle(.prepared(DeskFixture.part(1, size: 1, delivery: delivery)), now: now)
        {
            _ = desk.handle(.marked(marks, held: Set(marks.map(\.holding.part))), now: now)
        }
        let outcome = Outcome(
            index: 0,
            outcomeClass: .retry,
            status: 503,
            reason: "ServiceUnavailable",
            retryAfterMilliseconds: 900_000,
            isPauseAdvice: isAdvice
        )
        _ = desk.handle(.settled(batchID: 100, outcomes: [outcome]), now: now)
        // After the delivery's own period it is still valid; what the gateway asked for is obeyed.
        #expect(desk.counters.retried == (isAdvice ? 1 : 0))
    }
}
