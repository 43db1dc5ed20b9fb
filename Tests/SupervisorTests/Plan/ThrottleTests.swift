import ProcessProtocol
import Testing

@testable import Supervisor

@Suite struct ThrottleTests {
    private let work = [PlanHarness.offer(PlanHarness.push)]

    @Test func aChildThatDiesBeforeItsFirstMessageThrottlesItsKind() {
        var harness = PlanHarness()
        harness.start(work)
        harness.gone(1, 1, .signalled(11))
        #expect(harness.at(60.9, .tick).isEmpty)
        #expect(harness.at(61, .tick) == [.spawn(generation: 2, PlanHarness.push)])
        harness.gone(62, 2, .exited(status: 70))
        #expect(harness.at(181.9, .tick).isEmpty, "the second pause is twice as long")
        #expect(harness.at(182, .tick) == [.spawn(generation: 3, PlanHarness.push)])
    }

    @Test func thePauseGrowsToTenMinutes() {
        var throttle = SpawnThrottle()
        let time = ManualTime()
        let pauses = (0..<6).map { _ in throttle.diedEarly(.signalled, at: time[0]) }
        #expect(pauses == [60, 120, 240, 480, 600, 600].map { .seconds($0) })
    }

    @Test func otherKindsGoOn() {
        var harness = PlanHarness()
        harness.start(work)
        harness.gone(1, 1, .notStarted("no such file"))
        let both = work + [PlanHarness.offer(PlanHarness.droid)]
        #expect(harness.at(2, .work(both)) == [.spawn(generation: 2, PlanHarness.droid)])
    }

    @Test func aMessageEndsTheSeriesOfDeaths() {
        var harness = PlanHarness()
        harness.start(work)
        harness.gone(1, 1, .signalled(11))
        harness.at(61, .tick)
        harness.status(62, 2, sent: 1)
        #expect(harness.gone(63, 2, .signalled(11)).contains(.spawn(generation: 3, PlanHarness.push)), "it had worked")
        harness.gone(65, 3, .signalled(11))
        #expect(harness.at(124.9, .tick).isEmpty)
        #expect(harness.at(125, .tick) == [.spawn(generation: 4, PlanHarness.push)], "the first pause again")
    }

    @Test func aMissingDatabaseCostsSecondsOnly() {
        var harness = PlanHarness()
        harness.start(work)
        harness.gone(1, 1, .exited(status: 75))
        #expect(harness.at(1.9, .tick).isEmpty)
        #expect(harness.at(2, .tick) == [.spawn(generation: 2, PlanHarness.push)])
    }

    @Test func anOrderlyEndOrOneThatWasAskedForThrottlesNothing() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 1))
        harness.start(work)
        harness.status(1, 1, .idle)
        #expect(harness.gone(2, 1, .exited(status: 0)).contains(.spawn(generation: 2, PlanHarness.push)))
        var settings = SupervisorSettings()
        settings.maxSpareServers = 1
        harness.at(3, .reload(settings))
        #expect(harness.gone(4, 2, .signalled(11)).contains(.spawn(generation: 3, PlanHarness.push)))
    }
}
