import ProcessProtocol
import PushCore
import Store
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

    /// An operator corrects the cause of the deaths and resumes the application.
    @Test func aResumedApplicationWaitsForNothing() {
        var harness = PlanHarness()
        let work = work + [PlanHarness.offer(PlanHarness.droid)]
        harness.start(work)
        harness.gone(1, 1, .exited(status: 78))
        harness.gone(1, 2, .exited(status: 78))
        #expect(harness.at(10, .work(work)).isEmpty)
        #expect(harness.at(11, .resumed(applications: [1])) == [.spawn(generation: 3, PlanHarness.push)])
        #expect(harness.logLines.contains { $0.contains("resumed") && $0.contains("\(PlanHarness.push)") })
        #expect(harness.at(20, .tick).isEmpty, "the other application was not resumed")
        harness.status(21, 3, parts: 1)
        let wake = SupervisorAction.command(generation: 3, .wake, detail: SupervisorMessage.resumeDetail)
        #expect(harness.at(22, .resumed(applications: [1])) == [wake], "a running child ends its own pauses")
        harness.at(23, .work(self.work))
        harness.gone(23, 3, .exited(status: 78))
        #expect(harness.pass(from: 24, to: 82).isEmpty, "the next pause is the first again")
        #expect(harness.at(83, .tick) == [.spawn(generation: 4, PlanHarness.push)])
    }

    @Test func aChangedCredentialEndsThePause() {
        func routes(_ credential: String) -> SupervisorEvent {
            .routes(RouteVersions(applications: [1: credential], accounts: [:]))
        }
        var harness = PlanHarness()
        harness.start(work)
        harness.at(0, routes("a"))
        harness.gone(1, 1, .exited(status: 78))
        #expect(harness.at(5, routes("a")).isEmpty)
        #expect(harness.at(10, routes("b")) == [.spawn(generation: 2, PlanHarness.push)])
    }

    @Test func thePauseGrowsToTenMinutes() {
        var throttle = SpawnThrottle()
        let time = ManualTime()
        let pauses = (0..<6).map { _ in throttle.diedEarly(.own, at: time[0]) }
        #expect(pauses == [60, 120, 240, 480, 600, 600].map { .seconds($0) })
    }

    @Test func oneThatWasKilledFromOutsideIsNoCrashLoopAtOnce() {
        var harness = PlanHarness()
        harness.start(work)
        harness.gone(1, 1, .signalled(Signals.kill))
        #expect(harness.at(1.9, .tick).isEmpty)
        #expect(harness.at(2, .tick) == [.spawn(generation: 2, PlanHarness.push)])
        harness.gone(3, 2, .signalled(Signals.kill))
        #expect(harness.at(4.9, .tick).isEmpty, "it goes on, so the pause is twice as long")
        #expect(harness.at(5, .tick) == [.spawn(generation: 3, PlanHarness.push)])
        var throttle = SpawnThrottle()
        let time = ManualTime()
        let pauses = (0..<8).map { _ in throttle.diedEarly(.outside, at: time[0]) }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(throttle.diedEarly(.own, at: time[0]) == .seconds(60), "another cause is another series")
    }

    @Test func causesOfEarlyDeaths() {
        #expect(EarlyDeath(.signalled, .signalled(Signals.kill)) == .outside)
        #expect(EarlyDeath(.signalled, .signalled(Signals.terminate)) == .outside)
        #expect(EarlyDeath(.signalled, .signalled(11)) == .own, "it crashed")
        #expect(EarlyDeath(.outOfMemory, .signalled(Signals.kill)) == .own)
        #expect(EarlyDeath(.database, .exited(status: 75)) == .surroundings)
        #expect(EarlyDeath(.journal, .exited(status: 74)) == .surroundings)
        #expect(EarlyDeath(.settings, .exited(status: 78)) == .own)
        #expect(EarlyDeath(.notStarted, .notStarted("no such file")) == .own)
    }

    @Test func anOpenCircuitIsNoCrashAndNoReasonToStartAnother() {
        var harness = PlanHarness(SpawnSettings(minSpareServers: 1))
        harness.at(0, .kinds([PlanHarness.push]))
        harness.start(work)
        harness.status(1, 1, .draining, reason: .circuitOpen)
        #expect(harness.gone(2, 1, .exited(status: 0)).allSatisfy { $0.isRecovering }, "what was on offer is stale")
        #expect(harness.at(3, .work([])).isEmpty, "none is kept in stock for it")
        #expect(
            harness.at(8, .work(work)) == [.spawn(generation: 2, PlanHarness.push)],
            "one for the probe that is due"
        )
        #expect(harness.at(9, .work(work)).isEmpty)
        harness.status(10, 2, .draining, reason: .circuitOpen)
        harness.gone(11, 2, .exited(status: 0))
        #expect(harness.at(12, .work(work)) == [.spawn(generation: 3, PlanHarness.push)], "no throttle came of it")
    }

    @Test func nothingIsStartedWhileJournalsCannotBeWritten() {
        var harness = PlanHarness()
        harness.at(0, .journalDisk(trouble: "No space left on device"))
        #expect(harness.start(work).isEmpty)
        #expect(harness.logLines.first?.contains("No space left") == true)
        #expect(harness.at(30, .tick).isEmpty)
        #expect(harness.at(31, .journalDisk(trouble: nil)) == [.spawn(generation: 1, PlanHarness.push)])
        harness.status(32, 1, sent: 3)
        harness.at(33, .journalDisk(trouble: "Read-only file system"))
        #expect(harness.gone(34, 1, .exited(status: 74)).allSatisfy { $0.isRecovering })
        #expect(harness.at(35, .journalDisk(trouble: nil)) == [.spawn(generation: 2, PlanHarness.push)])
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
        var settings = SupervisorSettings(Settings())
        settings.mta.master.maxSpareServers = 1
        #expect(harness.at(3, .reload(settings)) == [.spawn(generation: 3, PlanHarness.push)])
        #expect(harness.status(4, 3, .idle) == [.command(generation: 2, .drain, detail: nil)])
        harness.gone(5, 2, .signalled(11))
        #expect(harness.gone(6, 3, .exited(status: 0)).contains(.spawn(generation: 4, PlanHarness.push)))
    }
}
