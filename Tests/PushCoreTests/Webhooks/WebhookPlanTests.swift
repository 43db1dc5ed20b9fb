import PushCore
import Testing

/// The life of a webhook, on a clock that the test moves.
@Suite("Webhook plan")
struct WebhookPlanTests {
    private let start = ContinuousClock.now
    private var generator = SystemRandomNumberGenerator()

    /// What a plan does.
    private mutating func step(
        _ plan: inout WebhookPlan,
        _ event: WebhookPlan.Event,
        at now: ContinuousClock.Instant? = nil
    ) -> [WebhookPlan.Action] {
        plan.handle(event, at: now ?? start, using: &generator)
    }

    private func plan() -> WebhookPlan { WebhookPlan(longestOutagePause: .seconds(10), at: start) }

    @Test("Batch after batch, then rest until there are events")
    mutating func plain() {
        var plan = plan()
        var actions: [WebhookPlan.Action]
        actions = step(&plan, .tick)
        #expect(actions == [.take])
        actions = step(&plan, .taken(attempts: 0))
        #expect(actions == [.post])
        let answer = WebhookPlan.Event.answered(.status(204, retryAfter: nil))
        actions = step(&plan, answer)
        #expect(actions == [.record(.accepted, status: 0, words: "")])
        actions = step(&plan, .recorded)
        #expect(actions == [.take])
        let end = start + .seconds(1)
        actions = step(&plan, .empty)
        #expect(actions == [.rest(until: end)])
        actions = step(&plan, .tick)
        #expect(actions == [.rest(until: end)])
        actions = step(&plan, .tick, at: end)
        #expect(actions == [.take])
        actions = step(&plan, .void, at: end)
        #expect(actions == [.record(.accepted, status: 0, words: "")])
        actions = step(&plan, .recorded, at: end)
        #expect(actions == [.take])
        actions = step(&plan, .inactive, at: end)
        #expect(actions == [.end])
        actions = step(&plan, .tick, at: end)
        #expect(actions.isEmpty)
    }

    /// What is recorded for an answer after this many attempts.
    private mutating func decision(_ answer: WebhookAnswer, attempts: Int) -> WebhookDecision? {
        var plan = plan()
        _ = plan.handle(.tick, at: start, using: &generator)
        _ = plan.handle(.taken(attempts: attempts), at: start, using: &generator)
        let actions = plan.handle(.answered(answer), at: start, using: &generator)
        guard case .record(let decision, _, _)? = actions.first, actions.count == 1 else { return nil }
        return decision
    }

    @Test("Pauses grow with the attempts, and the last refusal makes a dead letter")
    mutating func refusals() {
        for attempts in 0..<WebhookPlan.maxAttempts - 1 {
            for answer in [WebhookAnswer.status(500, retryAfter: nil), .status(301, retryAfter: nil), .failure("x")] {
                guard case .again(let pause)? = decision(answer, attempts: attempts) else {
                    Issue.record("\(answer) after \(attempts) attempts")
                    continue
                }
                let ceiling = min(Duration.seconds(10) * (1 << attempts), Duration.seconds(21_600))
                #expect(pause >= .seconds(5) && pause <= ceiling)
            }
        }
        let last = WebhookPlan.maxAttempts - 1
        let refused = decision(.status(500, retryAfter: nil), attempts: last)
        let failed = decision(.failure("x"), attempts: last)
        let accepted = decision(.status(200, retryAfter: nil), attempts: last)
        let gone = decision(.status(410, retryAfter: nil), attempts: 0)
        #expect(refused == .dead && failed == .dead && accepted == .accepted && gone == .gone)
    }

    @Test("The receiver's own pause counts, up to six hours")
    mutating func retryAfter() {
        let short = decision(.status(503, retryAfter: .seconds(600)), attempts: 0)
        let long = decision(.status(429, retryAfter: .seconds(90_000)), attempts: 0)
        #expect(short == .again(.seconds(600)) && long == .again(.seconds(21_600)))
    }

    @Test("After a failure of the database it begins again, later each time")
    mutating func outage() {
        var plan = plan()
        var actions: [WebhookPlan.Action]
        var now = start
        var total = Duration.zero
        for _ in 0..<20 {
            actions = step(&plan, .tick, at: now)
            #expect(actions == [.take])
            guard case .rest(let end)? = plan.handle(.failed, at: now, using: &generator).first else {
                Issue.record("no rest")
                return
            }
            total += end - now
            #expect(end - now <= .seconds(10))
            now = end
        }
        #expect(total > .seconds(1))
        actions = step(&plan, .tick, at: now)
        #expect(actions == [.take])
        actions = step(&plan, .taken(attempts: 3), at: now)
        #expect(actions == [.post])
        #expect(plan.state == .posting(attempts: 3))
    }

    @Test("A batch that waits is looked at again soon, because an operator may send it now")
    mutating func waiting() {
        var plan = plan()
        _ = plan.handle(.tick, at: start, using: &generator)
        #expect(
            plan.handle(.waits(.seconds(3_600)), at: start, using: &generator) == [.rest(until: start + .seconds(5))]
        )
    }
}
