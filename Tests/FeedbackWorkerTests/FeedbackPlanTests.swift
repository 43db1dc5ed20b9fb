import Testing

@testable import FeedbackWorker

@Suite("What the worker does next")
struct FeedbackPlanTests {
    private let start = ContinuousClock.now
    private let more = FeedbackRound(count: 2_000, isMore: true)

    private func plan(share: Int = 25) -> FeedbackPlan {
        var plan = FeedbackPlan(sharePercent: share, maxPause: .seconds(10), at: start)
        plan.setActing(true)
        return plan
    }

    @Test("Whoever stands by does nothing")
    func standby() {
        var plan = plan()
        plan.setActing(false)
        #expect(plan.next(at: start) == .rest(until: start + FeedbackPlan.standbyInterval))
    }

    @Test("A backlog of one duty does not keep the others from their turn")
    func turns() {
        var plan = plan()
        var now = start
        var seen: [FeedbackDuty] = []
        // Each duty and the rest after it, twice.
        for _ in 0..<4 * FeedbackDuty.allCases.count {
            switch plan.next(at: now) {
            case .rest(let time): now = time
            case .run(let duty):
                seen.append(duty)
                now += .milliseconds(100)
                plan.finished(
                    duty,
                    duty == .tokenEvents ? more : .idle,
                    took: .milliseconds(100),
                    isSending: false,
                    at: now
                )
            }
        }
        #expect(
            seen.prefix(FeedbackDuty.allCases.count).sorted { $0.rawValue < $1.rawValue }
                == FeedbackDuty.allCases.sorted { $0.rawValue < $1.rawValue }
        )
        #expect(seen.count { $0 == .tokenEvents } > 2)
    }

    @Test("With nothing to do each duty is looked at after its interval")
    func idle() {
        var plan = plan()
        var now = start
        while case .run(let duty) = plan.next(at: now) {
            plan.finished(duty, .idle, took: .zero, isSending: false, at: now)
        }
        #expect(plan.next(at: now) == .rest(until: start + .seconds(1)))
        now = start + .seconds(1)
        #expect(plan.next(at: now) == .run(.tokenEvents))
    }

    @Test("While somebody sends it works its share of the time, and half of it for a backlog that lasts")
    func share() {
        var plan = plan(share: 20)
        plan.finished(.tokenEvents, more, took: .milliseconds(100), isSending: true, at: start)
        #expect(plan.next(at: start) == .rest(until: start + .milliseconds(400)))
        let later = start + FeedbackPlan.timeout
        plan.finished(.tokenEvents, more, took: .milliseconds(100), isSending: true, at: later)
        #expect(plan.next(at: later) == .rest(until: later + .milliseconds(100)))
        plan.finished(.tokenEvents, .idle, took: .milliseconds(100), isSending: true, at: later)
        #expect(plan.next(at: later) == .rest(until: later + .milliseconds(400)))
        plan.finished(.tokenEvents, more, took: .milliseconds(100), isSending: false, at: later)
        #expect(plan.next(at: later) == .rest(until: later + .milliseconds(10)))
    }

    @Test("A duty that fails is tried again after growing pauses, and the others go on")
    func failures() {
        var plan = plan()
        var longest = Duration.zero
        for _ in 0..<50 { longest = max(longest, plan.failed(.tokenEvents, at: start)) }
        #expect(longest > .milliseconds(200) && longest <= .seconds(10))
        #expect(plan.next(at: start) == .run(.outcomes))
        plan.finished(.tokenEvents, .idle, took: .zero, isSending: false, at: start)
        #expect(plan.failed(.tokenEvents, at: start) <= .milliseconds(200))
    }

    @Test("The log has one line for pieces that follow each other")
    func bursts() {
        var bursts = FeedbackBursts()
        #expect(bursts.add(.hits, more, from: start, to: start + .seconds(1)) == nil)
        #expect(bursts.add(.outcomes, .idle, from: start, to: start) == nil)
        let line = bursts.add(
            .hits,
            FeedbackRound(count: 5, isMore: false),
            from: start + .seconds(2),
            to: start + .seconds(3)
        )
        #expect(line?.words == "hits counted: 2005, in 3 s 0 ms")
        #expect(line?.isBacklog == false, "what comes in every few seconds is no line for an operator")
        let last = FeedbackRound(count: 1, isMore: false)
        #expect(bursts.add(.hits, more, from: start, to: start + .seconds(9)) == nil)
        #expect(bursts.add(.hits, last, from: start + .seconds(9), to: start + .seconds(12))?.isBacklog == true)
        #expect(bursts.add(.hits, .idle, from: start, to: start) == nil)
    }
}
