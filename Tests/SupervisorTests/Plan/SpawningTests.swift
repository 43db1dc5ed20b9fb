import ProcessProtocol
import PushCore
import Store
import Testing

@testable import Supervisor

@Suite struct SpawningTests {
    @Test func nothingStartsBeforeTheDatabaseAnswers() {
        var harness = PlanHarness()
        #expect(harness.at(0, .work([PlanHarness.offer(PlanHarness.push)])).isEmpty)
        #expect(harness.at(5, .databaseAvailable(true)) == [.spawn(generation: 1, PlanHarness.push)])
    }

    @Test func eachKindWithWorkGetsAChildAtOnceInTheFirstSecond() {
        var harness = PlanHarness()
        let actions = harness.start([PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)])
        #expect(actions == [.spawn(generation: 1, PlanHarness.push), .spawn(generation: 2, PlanHarness.droid)])
    }

    @Test func laterOneChildASecond() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 3))
        harness.start()
        let work = [PlanHarness.offer(PlanHarness.push, parts: 500)]
        #expect(harness.at(10, .work(work)) == [.spawn(generation: 1, PlanHarness.push)])
        #expect(harness.at(10.9, .work(work)).isEmpty)
        #expect(harness.at(11, .work(work)) == [.spawn(generation: 2, PlanHarness.push)])
        #expect(harness.at(12, .work(work)) == [.spawn(generation: 3, PlanHarness.push)])
        #expect(harness.at(13, .work(work)).isEmpty, "the maximum is reached")
    }

    @Test func aPlaceIsKeptForTheNextProbeOfAGatewayInTrouble() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 2))
        let bulk = PlanHarness.offer(PlanHarness.push, parts: 900)
        harness.start([bulk, PlanHarness.offer(PlanHarness.droid)])
        let second = SupervisorAction.spawn(generation: 3, PlanHarness.push)
        harness.status(2, 1, parts: 2, sent: 5, progress: 5)
        harness.status(2, 2, .draining, reason: .gatewayTrouble)
        harness.gone(3, 2, .exited(status: 0))
        for moment in 4...12 {
            harness.status(Double(moment), 1, parts: 2, sent: Int64(moment), progress: UInt64(moment))
            harness.at(Double(moment), .work([bulk]))
        }
        #expect(!harness.actions.contains(second), "its gateway is probed in a moment")
        harness.at(14, .work([bulk]))
        #expect(harness.actions.contains(second), "nobody came")
    }

    @Test func manyKindsThatHaveNoChildAreServedFasterThanOneASecond() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 40))
        harness.start()
        let kinds = (Int32(1)...30).map(PlanHarness.kind)
        harness.at(10, .work(kinds.map { PlanHarness.offer($0) }))
        for tick in 1...40 { harness.at(10 + Double(tick) / 10, .tick) }
        let started = harness.actions.compactMap { if case .spawn(_, let kind) = $0 { kind } else { nil } }
        #expect(Set(started) == Set(kinds) && started.count == 30)
        // A kind whose children end at once gets a new child only once a second, however often there is work for it.
        var last = harness.actions.count
        for tick in 0..<20 {
            let moment = 20 + Double(tick) / 10
            harness.at(moment, .work([PlanHarness.offer(kinds[0])]))
            for action in harness.actions[last...] {
                guard case .spawn(let generation, _) = action else { continue }
                harness.gone(moment, generation, .exited(status: 0))
            }
            if tick == 0 { harness.gone(moment, 1, .exited(status: 0)) }
            last = harness.actions.count
        }
        #expect(harness.actions.count { if case .spawn(_, kinds[0]) = $0 { true } else { false } } <= 4)
    }

    @Test func aFewPartsAreLeftToOneChild() {
        var harness = PlanHarness()
        harness.start([PlanHarness.offer(PlanHarness.push, parts: 3)])
        harness.status(1, 1)
        #expect(harness.at(5, .work([PlanHarness.offer(PlanHarness.push, parts: 50)])).isEmpty)
        #expect(harness.at(6, .work([PlanHarness.offer(PlanHarness.push, parts: 51)])).count == 1)
    }

    @Test func moreUrgentWorkIsServedFirst() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 1))
        let actions = harness.start([
            PlanHarness.offer(PlanHarness.push, parts: 900, priority: 1),
            PlanHarness.offer(PlanHarness.droid, parts: 1, priority: 9),
        ])
        #expect(actions == [.spawn(generation: 1, PlanHarness.droid)])
    }

    /// The server's connections are shared: operators and backups can always connect, whatever work waits.
    @Test func noChildTakesTheLastConnections() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 10))
        let work = (Int32(1)...10).map { PlanHarness.offer(PlanHarness.kind($0)) }
        harness.at(0, .connections(ConnectionRoom(limit: 97, used: 75)))
        harness.start(work)
        #expect(harness.actions.count == 4, "22 are left, ten are kept, and a child takes three")
        #expect(harness.logLines.count { $0.hasPrefix("The database has 22 of 97 connections left, and 10") } == 1)
        for second in 2...4 { harness.at(Double(second), .work(work)) }
        #expect(harness.logLines.count { $0.hasPrefix("The database has 22") } == 1, "it is said once")
        harness.at(5, .connections(ConnectionRoom(limit: 97, used: 20)))
        for tick in 0...20 { harness.at(5 + Double(tick) / 10, .tick) }
        #expect(harness.actions.count == 10)
        harness.at(9, .work(work))
        #expect(harness.logLines.last == "The database has connections for more children again.")
    }

    @Test func spareServersAreStartedAndKept() {
        var harness = PlanHarness(SpawnSettings(startSpareServers: 2, minSpareServers: 1, maxSpareServers: 2))
        harness.at(0, .kinds([PlanHarness.droid, PlanHarness.push]))
        let start = harness.at(0, .databaseAvailable(true))
        #expect(start == [.spawn(generation: 1, PlanHarness.droid), .spawn(generation: 2, PlanHarness.push)])
        harness.status(1, 1, .idle)
        harness.status(1, 2, .idle)
        #expect(harness.gone(60, 1, .exited(status: 0)).count == 1, "one is above the minimum")
        #expect(harness.gone(61, 2, .exited(status: 0)).contains(.spawn(generation: 3, PlanHarness.droid)))
    }

    @Test func aKindForWhichAMessageMayComeHasAChild() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 2))
        harness.at(0, .standing([PlanHarness.push]))
        #expect(harness.start() == [.spawn(generation: 1, PlanHarness.push)])
        harness.status(1, 1, .idle)
        #expect(harness.at(2, .standing([PlanHarness.push])).isEmpty, "one is enough")
        #expect(harness.gone(60, 1, .exited(status: 0)).contains(.spawn(generation: 2, PlanHarness.push)))
        harness.status(61, 2, .idle)
        #expect(harness.at(70, .standing([])).isEmpty)
        #expect(!harness.gone(120, 2, .exited(status: 0)).contains(.spawn(generation: 3, PlanHarness.push)))
    }

    @Test func aMessageWakesTheChildrenOfItsKind() {
        var harness = PlanHarness()
        harness.start([PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)])
        let part = ReadyMessagePart(id: 7, applicationID: 2, accountID: 20)
        let woken = harness.at(1, .messages([part]))
        #expect(woken == [.command(generation: 2, .wake, detail: SupervisorMessage.messageDetail)])
        #expect(harness.at(1, .messages([ReadyMessagePart(id: 8, applicationID: 2, accountID: 10)])).isEmpty)
    }

    @Test func itTakesNoPlaceFromWork() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 1))
        harness.at(0, .standing([PlanHarness.droid]))
        #expect(harness.start([PlanHarness.offer(PlanHarness.push)]) == [.spawn(generation: 1, PlanHarness.push)])
        harness.status(1, 1)
        #expect(harness.at(20, .standing([PlanHarness.droid])).isEmpty)
    }

    @Test func aChildThatCouldNotBeRegisteredWaitsForTheDatabase() {
        var harness = PlanHarness()
        let work = [PlanHarness.offer(PlanHarness.push)]
        harness.start(work)
        #expect(harness.at(0.1, .childNotRegistered(generation: 1)).isEmpty)
        #expect(harness.at(3, .tick).isEmpty)
        #expect(harness.at(4, .databaseAvailable(true)) == [.spawn(generation: 2, PlanHarness.push)])
    }

    @Test func anIdleChildMakesRoomAtOnce() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 1))
        harness.start([PlanHarness.offer(PlanHarness.push)])
        harness.status(1, 1, .idle, sent: 5)
        let actions = harness.at(2, .work([PlanHarness.offer(PlanHarness.droid)]))
        #expect(
            actions == [
                .command(generation: 1, .drain, detail: nil), .command(generation: 1, .fastShutdown, detail: nil),
            ]
        )
        #expect(harness.at(3, .tick).isEmpty, "it is asked once, and no other with it")
        #expect(harness.gone(3, 1, .exited(status: 0)).contains(.spawn(generation: 2, PlanHarness.droid)))
    }

    @Test func aBusyChildMakesRoomAfterAWhile() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 2))
        let bulk = PlanHarness.offer(PlanHarness.push, parts: 900)
        harness.start([bulk])
        harness.status(1, 1, parts: 2, sent: 5, progress: 5)
        harness.status(1, 2, parts: 2, sent: 5, progress: 5)
        let both = [bulk, PlanHarness.offer(PlanHarness.droid)]
        #expect(harness.at(2, .work(both)).isEmpty)
        #expect(harness.at(11, .tick).isEmpty)
        #expect(
            harness.at(12, .tick) == [
                .command(generation: 1, .drain, detail: nil), .command(generation: 1, .fastShutdown, detail: nil),
            ]
        )
    }

    @Test func aBusyChildMakesRoomForUrgentWorkAtOnce() {
        var harness = PlanHarness(SpawnSettings(maxSpareServers: 1))
        let bulk = PlanHarness.offer(PlanHarness.push, parts: 900, priority: 0)
        harness.start([bulk])
        harness.status(1, 1, parts: 2, sent: 5)
        let urgent = PlanHarness.offer(PlanHarness.droid, priority: 5)
        #expect(
            harness.at(2, .work([bulk, urgent])) == [
                .command(generation: 1, .drain, detail: nil), .command(generation: 1, .fastShutdown, detail: nil),
            ]
        )
    }

    @Test func wakeUpsReachActiveChildren() {
        var harness = PlanHarness()
        harness.start([PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)])
        harness.at(1, .work([]))
        harness.ended(1, 1, .exited(status: 0))
        #expect(harness.at(2, .wake(detail: "7")) == [.command(generation: 2, .wake, detail: "7")])
    }
}
