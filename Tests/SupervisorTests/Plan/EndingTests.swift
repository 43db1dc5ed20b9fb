import ProcessProtocol
import PushCore
import Testing

@testable import Supervisor

@Suite struct EndingTests {
    private let work = [PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)]

    private func running(_ settings: SpawnSettings = SpawnSettings()) -> PlanHarness {
        var harness = PlanHarness(settings)
        harness.start(work)
        harness.status(1, 1, parts: 2, sent: 10, progress: 1)
        harness.status(1, 2, parts: 1, sent: 10, progress: 1)
        return harness
    }

    @Test func drainAsksEveryChildAndWaitsForTheirAffairs() {
        var harness = running()
        let asked = harness.at(2, .drain)
        #expect(asked == [.command(generation: 1, .drain, detail: nil), .command(generation: 2, .drain, detail: nil)])
        #expect(harness.at(3, .work(work)).isEmpty, "nothing is started any more")
        harness.gone(4, 1, .exited(status: 0))
        let end = ChildEnd(reason: .drained, detail: "exit status 0")
        #expect(harness.ended(5, 2, .exited(status: 0)) == [.recover(generation: 2, end)])
        #expect(harness.at(6, .childRecovered(generation: 2)) == [.finish])
        #expect(harness.plan.ending == .finished)
    }

    @Test func aDrainWithoutChildrenEndsAtOnce() {
        var harness = PlanHarness()
        harness.start()
        #expect(harness.at(1, .drain) == [.finish])
    }

    @Test func drainSaysEvery15SecondsWhatItWaitsFor() {
        var harness = running()
        harness.at(2, .drain)
        harness.logLines.removeAll()
        harness.at(16.9, .tick)
        #expect(harness.logLines.isEmpty)
        harness.at(17, .tick)
        #expect(harness.logLines.count == 1)
        #expect(harness.logLines.first?.contains("child 1 (2 parts, 0 messages on the wire)") == true)
        harness.at(31, .tick)
        #expect(harness.logLines.count == 1)
        harness.at(32, .tick)
        #expect(harness.logLines.count == 2)
    }

    @Test func aChildThatDoesNotDrainIsTerminatedAndThenKilled() {
        var harness = running()
        harness.at(2, .drain)
        harness.gone(3, 2, .exited(status: 0))
        harness.status(61, 1, .draining, parts: 2, progress: 50)
        #expect(harness.at(61.9, .tick).isEmpty)
        let terminated = harness.at(62, .tick)
        #expect(
            terminated == [
                .command(generation: 1, .fastShutdown, detail: nil), .signal(generation: 1, Signals.terminate),
            ]
        )
        #expect(harness.at(71.9, .tick).isEmpty)
        #expect(harness.at(72, .tick) == [.signal(generation: 1, Signals.kill)])
        let end = harness.ended(73, 1, .signalled(Signals.kill))
        #expect(end == [.recover(generation: 1, ChildEnd(reason: .drainTimeout, detail: "signal 9"))])
    }

    @Test func theSecondRequestIsAFastShutdown() {
        var harness = running()
        harness.at(2, .drain)
        let fast = harness.at(3, .drain)
        #expect(fast.contains(.signal(generation: 1, Signals.terminate)))
        #expect(fast.contains(.signal(generation: 2, Signals.terminate)))
        #expect(harness.at(4, .fastShutdown).isEmpty, "a third one changes nothing")
        #expect(harness.at(13, .tick).count == 2, "both are killed")
    }

    @Test func aFastShutdownDoesNotWaitForADatabaseThatIsAway() {
        var harness = running()
        harness.at(2, .fastShutdown)
        harness.at(2, .databaseAvailable(false))
        harness.ended(3, 1, .exited(status: 0))
        #expect(harness.ended(4, 2, .exited(status: 0)).contains(.finish))
    }

    @Test func aDrainDoesNotWaitForADatabaseThatStaysAway() {
        var harness = running()
        harness.at(2, .drain)
        harness.at(3, .databaseAvailable(false))
        #expect(harness.at(7.9, .tick).isEmpty, "it may be a restart")
        let fast = harness.at(8, .tick)
        #expect(
            fast == [
                .command(generation: 1, .fastShutdown, detail: nil),
                .command(generation: 2, .fastShutdown, detail: nil),
            ]
        )
        #expect(harness.at(9, .tick).isEmpty, "they are told once, and no signal cuts off what is on the wire")
        harness.ended(20, 1, .exited(status: 75))
        #expect(harness.ended(21, 2, .exited(status: 75)).contains(.finish))
    }

    @Test func aDatabaseThatComesBackIsWaitedFor() {
        var harness = running()
        harness.at(2, .drain)
        harness.at(3, .databaseAvailable(false))
        harness.at(7, .databaseAvailable(true))
        #expect(harness.at(20, .tick).isEmpty)
        harness.ended(21, 1, .exited(status: 0))
        #expect(!harness.ended(22, 2, .exited(status: 0)).contains(.finish), "their journals are being replayed")
        #expect(harness.at(51.9, .tick).isEmpty)
        #expect(harness.at(52, .tick) == [.finish], "but not for ever: they stay for the next start")
    }

    @Test func aRequestInTheDatabaseDrainsOnce() {
        var harness = running()
        #expect(harness.at(2, .drainRequested).count == 2)
        for second in 3...10 { #expect(harness.at(Double(second), .drainRequested).isEmpty) }
    }

    @Test func aLoweredMaximumIsReachedChildByChild() {
        var harness = running()
        var settings = SupervisorSettings(Settings())
        settings.mta.master.maxSpareServers = 1
        settings.mta.master.maxSmallChildren = 0
        #expect(harness.at(2, .reload(settings)) == [.command(generation: 1, .drain, detail: nil)])
        let gone = harness.gone(3, 1, .exited(status: 0))
        #expect(gone.contains(.spawn(generation: 3, PlanHarness.droid)), "the other one is replaced")
        #expect(harness.status(4, 3, parts: 1, sent: 1) == [.command(generation: 2, .drain, detail: nil)])
        harness.gone(5, 2, .exited(status: 0))
        #expect(harness.plan.aliveCount == 1)
        harness.at(6, .tick)
        #expect(harness.plan.aliveCount == 1)
    }
}
