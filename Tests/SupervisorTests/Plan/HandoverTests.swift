import ProcessProtocol
import PushCore
import Testing

@testable import Supervisor

@Suite struct HandoverTests {
    private let work = [PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)]

    private func running(_ settings: SpawnSettings = SpawnSettings()) -> PlanHarness {
        var harness = PlanHarness(settings)
        harness.start(work)
        harness.status(1, 1, parts: 2, sent: 10, progress: 1)
        harness.status(1, 2, parts: 1, sent: 10, progress: 1)
        return harness
    }

    private func spawn(_ generation: Int32, _ kind: ChildKind) -> [SupervisorAction] {
        [.spawn(generation: generation, kind)]
    }

    private func drain(_ generation: Int32) -> SupervisorAction {
        .command(generation: generation, .drain, detail: nil)
    }

    @Test(arguments: [true, false])
    func eachReplacementProvesItselfBeforeItsPredecessorLeaves(isReload: Bool) {
        var harness = running()
        let event = isReload ? SupervisorEvent.reload(SupervisorSettings(Settings())) : .restartDue
        #expect(harness.at(2, event) == spawn(3, PlanHarness.push), "in a place above the maximum")
        #expect(harness.status(3, 3, parts: 1, progress: 1).isEmpty, "it has sent nothing yet")
        #expect(harness.status(4, 3, parts: 1, sent: 5, progress: 2) == [drain(1)])
        #expect(harness.at(5, .tick).isEmpty, "one after the other")
        #expect(!harness.gone(6, 1, .exited(status: 0)).contains(drain(2)))
        #expect(harness.actions.last == .spawn(generation: 4, PlanHarness.droid))
        #expect(harness.status(7, 4, .idle) == [drain(2)], "it is ready, and has no work just now")
        harness.gone(8, 2, .exited(status: 0))
        #expect(harness.at(20, .tick).isEmpty, "the new ones stay")
        #expect(harness.plan.aliveCount == 2)
    }

    @Test func settingsWithWhichNoChildCanWorkEndNoneThatCan() {
        var harness = running()
        harness.at(2, .restartDue)
        harness.gone(3, 3, .exited(status: 78))
        for second in 4...62 {
            #expect(harness.status(Double(second), 1, parts: 1, sent: 20, progress: UInt64(second)).isEmpty)
            #expect(harness.status(Double(second), 2, parts: 1, sent: 20, progress: UInt64(second)).isEmpty)
        }
        #expect(harness.at(63, .tick) == spawn(4, PlanHarness.push), "the next attempt is after the pause of its kind")
    }

    @Test func aChildWithoutWorkNeedsNoReplacement() {
        var harness = running()
        harness.at(2, .work([]))
        harness.status(3, 1, .idle, sent: 10)
        harness.status(3, 2, .idle, sent: 10)
        #expect(harness.at(4, .restartDue) == [drain(1)])
        #expect(harness.gone(5, 1, .exited(status: 0)).contains(drain(2)))
    }

    @Test func aGatewayThatDoesNotAnswerDoesNotKeepOldChildrenForEver() {
        var harness = running()
        harness.at(2, .restartDue)
        for second in 3...31 { #expect(harness.status(Double(second), 3, .stalled, parts: 1).isEmpty) }
        #expect(harness.status(32, 3, .stalled, parts: 1) == [drain(1)])
    }

    @Test func nothingIsReplacedWithoutTheDatabase() {
        var harness = running()
        harness.at(2, .databaseAvailable(false))
        #expect(harness.at(3, .restartDue).isEmpty)
        #expect(harness.at(9, .tick).isEmpty)
        #expect(harness.at(10, .databaseAvailable(true)) == spawn(3, PlanHarness.push))
    }

    @Test func aPredecessorThatEndsByItselfEndsTheHandover() {
        var harness = running()
        harness.at(2, .restartDue)
        let gone = harness.gone(3, 1, .exited(status: 0))
        #expect(gone.contains(.spawn(generation: 4, PlanHarness.droid)))
        #expect(!gone.contains(drain(3)))
    }

    @Test func aDrainEndsOldAndNewAlike() {
        var harness = running()
        harness.at(2, .restartDue)
        #expect(harness.at(3, .drain) == [drain(1), drain(2), drain(3)])
    }
}
