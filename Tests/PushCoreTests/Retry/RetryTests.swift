import Testing

@testable import PushCore

@Suite struct RetryTests {
    @Test func pausesGrowToTheMaximum() {
        var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(10), floor: .milliseconds(20))
        var random = TestRandom(seed: TestRandom.seed(for: "back-off"))
        let ceilings = (0..<9).map { backOff.ceiling(afterFailures: $0) }
        #expect(ceilings.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(ceilings.suffix(2) == [.seconds(10), .seconds(10)])
        #expect(backOff.ceiling(afterFailures: .max) == .seconds(10))
        for failures in 0..<200 {
            let pause = backOff.next(using: &random)
            #expect(pause >= .milliseconds(20) && pause <= backOff.ceiling(afterFailures: failures))
        }
        #expect(backOff.failures == 200)
        backOff.reset()
        #expect(backOff.next() <= .milliseconds(100))
    }

    @Test func jitterUsesTheWholeRange() {
        let backOff = BackOff(initial: .seconds(1), maximum: .seconds(1))
        var random = TestRandom(seed: TestRandom.seed(for: "jitter"))
        let pauses = (0..<1_000).map { _ in backOff.pause(afterFailures: 0, using: &random) }
        #expect(pauses.contains { $0 < .milliseconds(100) } && pauses.contains { $0 > .milliseconds(900) })
    }

    @Test func decisions() {
        let policy = RetryPolicy(
            maximumRetries: 2,
            backOff: BackOff(initial: .seconds(10), maximum: .seconds(60), floor: .seconds(10))
        )
        var random = TestRandom(seed: 1)
        #expect(
            policy.decide(attempt: 1, nowMilliseconds: 1_000, using: &random) == .again(notBeforeMilliseconds: 11_000)
        )
        #expect(policy.decide(attempt: 3, nowMilliseconds: 1_000, using: &random) == .exhausted)
        let asked = policy.decide(attempt: 2, retryAfterMilliseconds: 5_000, nowMilliseconds: 0, using: &random)
        guard case .again(let moment) = asked else {
            Issue.record("a message with attempts left is tried again")
            return
        }
        #expect((5_000...6_000).contains(moment), "as the gateway asked, and a fifth more at most")
        let late = policy.decide(attempt: 1, nowMilliseconds: 0, validUntilMilliseconds: 9_999, using: &random)
        #expect(late == .expired)
        let inTime = policy.decide(attempt: 1, nowMilliseconds: 0, validUntilMilliseconds: 10_000, using: &random)
        #expect(inTime == .again(notBeforeMilliseconds: 10_000))
        #expect(policy.decide(attempt: 1, nowMilliseconds: .max, using: &random) == .expired)
    }

    @Test func whatIsOnlyAdvisedGivesWayToTheValidity() {
        let policy = RetryPolicy(
            maximumRetries: 2,
            backOff: BackOff(initial: .seconds(10), maximum: .seconds(60), floor: .seconds(10))
        )
        var random = TestRandom(seed: TestRandom.seed(for: "advice"))
        func decide(_ isAdvice: Bool, now: Int64 = 0, validUntil: Int64?) -> RetryDecision {
            policy.decide(
                attempt: 1,
                retryAfterMilliseconds: 900_000,
                isAdvice: isAdvice,
                nowMilliseconds: now,
                validUntilMilliseconds: validUntil,
                using: &random
            )
        }
        for end in [nil, 2_000_000] as [Int64?] {
            guard case .again(let moment) = decide(true, validUntil: end) else {
                Issue.record("a message with attempts left is tried again")
                return
            }
            #expect((900_000...1_080_000).contains(moment))
        }
        #expect(decide(true, validUntil: 600_000) == .again(notBeforeMilliseconds: 10_000))
        #expect(decide(false, validUntil: 600_000) == .expired, "the gateway has asked for it")
        #expect(decide(true, validUntil: 9_999) == .expired)
        #expect(decide(true, now: .max, validUntil: .min) == .expired)
    }
}
