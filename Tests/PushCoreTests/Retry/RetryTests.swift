import TestSupport
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

    @Test func exponentialRetriesEndWithTheAttemptsAndTheValidity() {
        let policy = RetryPolicy(maxRetries: 2, schedule: .exponential, period: .seconds(10))
        var random = TestRandom(seed: TestRandom.seed(for: "exponential"))
        #expect((5_000...10_000).contains(pause(policy.decide(attempt: 1, nowMilliseconds: 0, using: &random))))
        #expect((5_000...20_000).contains(pause(policy.decide(attempt: 2, nowMilliseconds: 0, using: &random))))
        #expect(policy.decide(attempt: 3, nowMilliseconds: 1_000, using: &random) == .exhausted)
        let late = policy.decide(attempt: 1, nowMilliseconds: 0, validUntilMilliseconds: 4_999, using: &random)
        #expect(late == .expired)
        #expect(policy.decide(attempt: 1, nowMilliseconds: .max, using: &random) == .expired)
    }

    @Test func whatTheGatewayAsksForIsTheLeast() {
        let policy = RetryPolicy(maxRetries: 2, schedule: .exponential, period: .seconds(10))
        var random = TestRandom(seed: TestRandom.seed(for: "asked"))
        let short = policy.decide(attempt: 1, retryAfterMilliseconds: 1_000, nowMilliseconds: 0, using: &random)
        #expect((5_000...10_000).contains(pause(short)), "never in the place of the own pause")
        let long = policy.decide(attempt: 1, retryAfterMilliseconds: 60_000, nowMilliseconds: 0, using: &random)
        #expect((60_000...72_000).contains(pause(long)), "as the gateway asked, and a fifth more at most")
        let late = policy.decide(
            attempt: 1,
            retryAfterMilliseconds: 60_000,
            nowMilliseconds: 0,
            validUntilMilliseconds: 59_999,
            using: &random
        )
        #expect(late == .expired)
    }

    @Test func adobesScheduleIsFiveOnTheFirstDayAndThenDailyUntilTheValidityIsOver() {
        let policy = RetryPolicy(maxRetries: 5, setting: .byKind, isContinuous: false, periodSeconds: nil)
        var random = TestRandom(seed: TestRandom.seed(for: "daily"))
        let hour: Int64 = 3_600_000
        let end = 120 * hour
        var now: Int64 = 0
        var moments: [Int64] = []
        for attempt in 1...20 {
            let decision = policy.decide(
                attempt: attempt,
                nowMilliseconds: now,
                validUntilMilliseconds: end,
                using: &random
            )
            guard case .again(let moment) = decision else {
                #expect(decision == .expired)
                break
            }
            let least = attempt <= 5 ? hour : 24 * hour
            #expect(moment - now >= least && moment - now <= least * 6 / 5, "attempt \(attempt)")
            moments.append(moment)
            now = moment
        }
        #expect(moments.count { $0 < 24 * hour } == 5)
        #expect((8...9).contains(moments.count), "one on each of the other days of five")
        #expect(policy.decide(attempt: 6, nowMilliseconds: 0, using: &random) == .exhausted, "nothing else ends it")
        let none = RetryPolicy(maxRetries: 0, schedule: .daily, period: .seconds(60))
        #expect(none.decide(attempt: 1, nowMilliseconds: 0, validUntilMilliseconds: end, using: &random) == .exhausted)
    }

    @Test func aPeriodThatADeliveryNamesIsAlwaysMeant() {
        var random = TestRandom(seed: TestRandom.seed(for: "period"))
        for (isContinuous, longest) in [(false, Int64(72_000)), (true, 60_000)] {
            let policy = RetryPolicy(maxRetries: 5, setting: .byKind, isContinuous: isContinuous, periodSeconds: 60)
            #expect(policy.period == .seconds(60))
            let first = pause(
                policy.decide(attempt: 1, nowMilliseconds: 0, validUntilMilliseconds: .max, using: &random)
            )
            #expect((30_000...longest).contains(first))
            #expect(policy.schedule == (isContinuous ? .exponential : .daily))
        }
        let daily = RetryPolicy(maxRetries: 1, setting: .daily, isContinuous: true, periodSeconds: 60)
        let later = daily.decide(attempt: 2, nowMilliseconds: 0, validUntilMilliseconds: .max, using: &random)
        #expect((86_400_000...103_680_000).contains(pause(later)), "one a day after the first day, whatever the period")
        #expect(
            RetryPolicy(maxRetries: 1, setting: .byKind, isContinuous: true, periodSeconds: nil).period
                == .seconds(10)
        )
    }

    @Test func whatMayHaveArrivedIsSentAgainSoonWhateverTheSchedule() {
        let policy = RetryPolicy(maxRetries: 2, schedule: .daily, period: .seconds(60))
        var random = TestRandom(seed: TestRandom.seed(for: "ambiguous"))
        func decide(_ attempt: Int) -> RetryDecision {
            policy.decide(
                attempt: attempt,
                isAmbiguous: true,
                nowMilliseconds: 0,
                validUntilMilliseconds: .max,
                using: &random
            )
        }
        #expect((5_000...10_000).contains(pause(decide(1))))
        #expect(decide(3) == .exhausted, "each resend is an attempt")
    }

    @Test func aRefusalOfTheGatewayHasAPauseThatGrowsToAMinute() {
        var random = TestRandom(seed: TestRandom.seed(for: "gateway"))
        for refusals in 0..<50 {
            let pause = RetryPolicy.gatewayPause(refusals: refusals, minMilliseconds: nil, using: &random)
            #expect((1_000...60_000).contains(pause) && pause <= 10_000 << min(refusals, 6))
            let asked = RetryPolicy.gatewayPause(refusals: refusals, minMilliseconds: 90_000, using: &random)
            #expect((90_000...108_000).contains(asked))
        }
    }

    private func pause(_ decision: RetryDecision) -> Int64 {
        if case .again(let moment) = decision { moment } else { -1 }
    }
}
