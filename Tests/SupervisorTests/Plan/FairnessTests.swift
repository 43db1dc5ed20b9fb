import ProcessProtocol
import PushCore
import Testing

@testable import Supervisor

@Suite struct FairnessTests {
    private let broken = [PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)]
    private var all: [ReadyWorkOffer] { broken + [PlanHarness.offer(PlanHarness.other)] }

    private func drain(_ generation: Int32) -> SupervisorAction {
        .command(generation: generation, .drain, detail: nil)
    }

    /// A child that makes room gives back the messages that are not in flight: with a slow gateway, sending the rest of
    /// its parts would take the whole drain time.
    private func leave(_ generation: Int32) -> [SupervisorAction] {
        [drain(generation), .command(generation: generation, .fastShutdown, detail: nil)]
    }

    /// Two children whose gateways accept nothing, in the only two places.
    private func brokenGateways() -> PlanHarness {
        var harness = PlanHarness()
        harness.start(broken)
        harness.status(1, 1, .stalled, parts: 2)
        harness.status(1, 2, .stalled, parts: 2)
        return harness
    }

    @Test func stalledChildrenGiveWayAtOnce() {
        var harness = brokenGateways()
        #expect(harness.at(2, .work(all)) == leave(2))
        let freed = harness.gone(2.5, 2, .exited(status: 0))
        #expect(freed.contains(.spawn(generation: 3, PlanHarness.other)), "it waited for half a second")
    }

    @Test func aChildInWhichNothingMovesGivesWayThoughItDoesNotKnowYet() {
        var harness = PlanHarness()
        harness.start(broken)
        for second in 1...5 {
            harness.status(Double(second), 1, parts: 2, sent: 1, progress: 1)
            harness.status(Double(second), 2, parts: 2, sent: Int64(second), progress: UInt64(second))
        }
        #expect(harness.at(5.1, .work(all)) == leave(1))
    }

    /// Waiting for an access token from a slow gateway is not a standstill. Children that were ended for it started
    /// over, and nothing was ever sent.
    @Test func aChildThatHasSentNothingYetKeepsItsPlaceForAWhile() {
        var harness = PlanHarness()
        harness.start(broken)
        for second in 1...9 {
            harness.status(Double(second), 1, parts: 2, progress: 1)
            harness.status(Double(second), 2, .idle)
            if second == 1 { harness.at(1.5, .work(all)) }
        }
        #expect(!harness.actions.contains(drain(1)))
        harness.status(11, 1, parts: 2, progress: 1)
        harness.status(11, 2, parts: 2, sent: 1, progress: 2)
        #expect(harness.at(11.5, .tick) == leave(1) || harness.actions.contains(drain(1)))
        #expect(harness.plan.isStandingBack(PlanHarness.push, at: harness.time[12]))
        #expect(harness.plan.backOffs[PlanHarness.push]?.tenure == .seconds(20), "the next one has twice the time")
    }

    @Test func anIdleChildIsNotEndedBeforeItCanHaveClaimed() {
        var harness = PlanHarness()
        harness.start(broken)
        harness.status(0.3, 1, .idle)
        harness.status(0.3, 2, .idle)
        let other = [PlanHarness.offer(PlanHarness.other)]
        #expect(harness.at(0.5, .work(other)).isEmpty, "what it has just claimed is on offer no more")
        for second in 1...9 {
            for generation: Int32 in 1...2 { harness.status(Double(second), generation, .idle) }
        }
        #expect(harness.actions.count == 2, "no child was asked to leave")
        #expect(harness.at(10.5, .work(other)) == leave(1))
    }

    @Test func theLeastUrgentMakesRoom() {
        var harness = PlanHarness()
        let work = [
            PlanHarness.offer(PlanHarness.push, priority: 5), PlanHarness.offer(PlanHarness.droid, priority: 1),
        ]
        harness.start(work)
        for generation: Int32 in 1...2 { harness.status(1, generation, parts: 2, sent: 5, progress: 5) }
        harness.at(2, .work(work + [PlanHarness.offer(PlanHarness.other, priority: 9)]))
        #expect(harness.actions.contains(drain(2)) && !harness.actions.contains(drain(1)))
    }

    @Test func aLateStatusLineIsNoStandstill() {
        var harness = PlanHarness()
        harness.start(broken)
        for generation: Int32 in 1...2 { harness.status(1, generation, parts: 2, sent: 5, progress: 5) }
        #expect(harness.at(6, .work(all)).isEmpty, "on a machine that is busy lines are late")
    }

    @Test func theOneThatGaveWayAsksNobodyElseToLeaveForAWhile() {
        var harness = brokenGateways()
        harness.at(2, .work(all))
        harness.gone(3, 2, .exited(status: 0))
        harness.status(4, 3, parts: 1, sent: 5, progress: 5)
        for second in 4...11 {
            harness.status(Double(second), 1, .stalled, parts: 2)
            harness.status(Double(second), 3, parts: 1, sent: Int64(second), progress: UInt64(second))
        }
        #expect(!harness.actions.contains(drain(1)) && !harness.actions.contains(drain(3)))
        #expect(harness.at(12, .tick) == leave(1), "then the two broken ones take turns in one place")
    }

    @Test func aFreePlaceIsForThemAsForAnyone() {
        var harness = brokenGateways()
        harness.at(2, .work(all))
        harness.gone(3, 2, .exited(status: 0))
        let free = harness.gone(5, 3, .exited(status: 0))
        #expect(free.contains(.spawn(generation: 4, PlanHarness.other)), "the healthy kind comes first")
        harness.at(6, .work(broken))
        #expect(harness.gone(7, 4, .exited(status: 0)).contains(.spawn(generation: 5, PlanHarness.droid)))
    }

    /// There are fewer places than applications with work. The place that one child made is not given back to its own
    /// kind.
    @Test(arguments: [0, 9]) func healthyKindsTakeTurns(_ priorityOfTheFirst: Int) {
        var settings = SpawnSettings()
        settings.maxSpareServers = 1
        var harness = PlanHarness(settings)
        let first = PlanHarness.offer(PlanHarness.kind(1), priority: priorityOfTheFirst)
        let second = PlanHarness.offer(PlanHarness.kind(2))
        harness.start([first])
        harness.at(1, .work([first, second]))
        for second in 2...10 {
            harness.status(Double(second), 1, parts: 2, sent: Int64(second), progress: UInt64(second))
        }
        #expect(!harness.actions.contains(drain(1)))
        harness.status(11, 1, parts: 2, sent: 11, progress: 11)
        #expect(harness.at(11.5, .tick) == leave(1) || harness.actions.contains(drain(1)))
        let freed = harness.gone(12, 1, .exited(status: 0)) + harness.pass(from: 13, to: 14)
        #expect(freed.contains(.spawn(generation: 2, PlanHarness.kind(2))), "it has waited for ten seconds")
        #expect(!freed.contains(.spawn(generation: 2, PlanHarness.kind(1))))
    }

    @Test func aMessageEndsTheBackOff() {
        var setBack = PreemptionBackOff()
        let time = ManualTime()
        let lengths = (0..<7).map { _ in
            setBack.gaveWay(at: time[0])
            return (1...400).first { !setBack.isStandingBack(at: time[Double($0)]) }
        }
        #expect(lengths == [10, 20, 40, 80, 160, 300, 300])
        var harness = brokenGateways()
        harness.at(2, .work(all))
        #expect(harness.plan.isStandingBack(PlanHarness.droid, at: harness.time[3]))
        harness.gone(3, 2, .exited(status: 0))
        harness.at(4, .work(broken))
        harness.gone(5, 3, .exited(status: 0))
        harness.status(7, 4, parts: 1, sent: 1, progress: 1)
        #expect(!harness.plan.isStandingBack(PlanHarness.droid, at: harness.time[7]))
    }
}
