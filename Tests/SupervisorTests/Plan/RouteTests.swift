import ProcessProtocol
import PushCore
import Store
import Testing

@testable import Supervisor

/// Children whose account or application changes while they run.
@Suite struct RouteTests {
    private let work = [PlanHarness.offer(PlanHarness.push), PlanHarness.offer(PlanHarness.droid)]

    private func versions(
        applications: [Int32: String] = [1: "a", 2: "b"],
        push: String = "c",
        connector: Connector = .iosHTTP2
    ) -> RouteVersions {
        RouteVersions(
            applications: applications,
            accounts: [
                10: RouteVersions.Account(connector: connector, version: push),
                20: RouteVersions.Account(connector: .androidV2, version: "d"),
            ]
        )
    }

    private func running() -> PlanHarness {
        var harness = PlanHarness()
        harness.start(work)
        harness.at(0, .routes(versions()))
        harness.status(1, 1, parts: 2, sent: 10, progress: 1)
        harness.status(1, 2, parts: 1, sent: 10, progress: 1)
        return harness
    }

    private func drain(_ generation: Int32) -> SupervisorAction {
        .command(generation: generation, .drain, detail: nil)
    }

    @Test func onlyTheChildrenOfWhatHasChangedAreReplaced() {
        for changed in [versions(push: "other"), versions(applications: [1: "other", 2: "b"])] {
            var harness = running()
            #expect(harness.at(2, .routes(versions())).isEmpty, "nothing has changed")
            #expect(harness.at(3, .routes(changed)) == [.spawn(generation: 3, PlanHarness.push)])
            #expect(harness.logLines.contains { $0.contains("1 of 2 children") })
            #expect(
                harness.status(4, 3, parts: 1, sent: 5, progress: 2) == [drain(1)],
                "once the new one has shown itself"
            )
            harness.gone(5, 1, .exited(status: 0))
            #expect(harness.at(6, .routes(changed)).isEmpty)
            #expect(harness.at(20, .tick).isEmpty, "the other child stays, and the new one too")
            #expect(harness.plan.children.keys.sorted() == [2, 3])
        }
    }

    @Test func theFirstLookAndWhatIsNewReplaceNobody() {
        var harness = PlanHarness()
        harness.start(work)
        harness.status(1, 1, parts: 1, sent: 1, progress: 1)
        harness.status(1, 2, parts: 1, sent: 1, progress: 1)
        #expect(harness.at(2, .routes(versions(applications: [2: "b"]))).isEmpty)
        #expect(harness.at(3, .routes(versions())).isEmpty)
    }

    @Test func aChildOfAnEarlierConnectorLeavesAndIsNotReplacedByOneOfItsKind() {
        var harness = running()
        #expect(harness.at(2, .routes(versions(push: "x", connector: .iosBinary))) == [drain(1)])
    }

    @Test func aChildThatSomebodyWantsRecycledLeavesWhenAnotherHasItsPlace() {
        var harness = running()
        #expect(harness.at(2, .recycleRequested([1])) == [.spawn(generation: 3, PlanHarness.push)])
        #expect(harness.at(3, .recycleRequested([1])).isEmpty)
        #expect(harness.logLines.count { $0.contains("An operator has requested the replacement of") } == 1)
        #expect(harness.status(4, 3, parts: 1, sent: 5, progress: 2) == [drain(1)])
        harness.gone(5, 1, .exited(status: 0))
        #expect(harness.at(6, .recycleRequested([1])).isEmpty, "the row is not closed yet")
        #expect(harness.plan.children.keys.sorted() == [2, 3])
    }

    @Test func nobodyIsReplacedWhileTheSupervisorEnds() {
        var harness = running()
        harness.at(2, .drain)
        #expect(harness.at(3, .routes(versions(push: "other"))).isEmpty)
        #expect(harness.at(4, .recycleRequested([1, 2])).isEmpty)
    }
}
