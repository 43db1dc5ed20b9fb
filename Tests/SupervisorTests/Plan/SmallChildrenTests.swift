import ProcessProtocol
import PushCore
import Testing

@testable import Supervisor

/// Applications with little to send share places in addition to those of applications with much to send.
@Suite struct SmallChildrenTests {
    private static let settings = SpawnSettings(maxSpareServers: 2, maxSmallChildren: 4)
    private let large = [1, 2, 3].map { PlanHarness.offer(PlanHarness.kind($0), parts: 900) }
    private let small = (Int32(11)...20).map { PlanHarness.offer(PlanHarness.kind($0)) }

    private func started(_ harness: PlanHarness) -> [ChildKind] {
        harness.actions.compactMap { if case .spawn(_, let kind) = $0 { kind } else { nil } }
    }

    private func told(_ harness: PlanHarness, _ command: SupervisorCommand) -> [Int32] {
        harness.actions.compactMap { if case .command(let generation, command, _) = $0 { generation } else { nil } }
    }

    @Test func smallKindsHavePlacesBesideTheLargeOnes() {
        var harness = PlanHarness(Self.settings)
        harness.start(large + small)
        #expect(started(harness).count == 6)
        #expect(started(harness).count { $0.applicationID < 10 } == 2, "two cores, two large ones")
        #expect(Set(told(harness, .leaveWhenDone)).count == 4, "others wait for the places of the small ones")
        #expect(told(harness, .drain).isEmpty, "no child has to make room")
    }

    @Test func thePlaceOfALargeOneIsKeptFreeOfSmallOnes() {
        var harness = PlanHarness(Self.settings)
        harness.start(small)
        #expect(started(harness).count == 4)
        harness.at(2, .work(large + small))
        for tick in 1...20 { harness.at(2 + Double(tick) / 10, .tick) }
        #expect(started(harness).count { $0.applicationID < 10 } == 2)
    }

    /// Each child leaves when it is done, and the next takes its place at once. No child is started for messages that
    /// were already sent.
    @Test func aCrowdIsServedWithOneChildEach() {
        var harness = PlanHarness(Self.settings)
        harness.start(small)
        var second = 2.0
        while harness.plan.children.count > 0, second < 20 {
            for generation in harness.plan.children.keys.sorted() {
                harness.status(second, generation, .draining, sent: 20, reason: .idle)
                harness.gone(second, generation, .exited(status: 0))
                second += 0.1
            }
        }
        #expect(started(harness).sorted() == small.map(\.kind))
        #expect(told(harness, .drain).isEmpty)
    }

    @Test func aSmallChildWhoseKindHasMuchToSendTakesALargePlaceOrLeaves() {
        var harness = PlanHarness(Self.settings)
        let kinds = [1, 11, 12].map(PlanHarness.kind)
        // One part with this many messages is work for one child.
        let grown = kinds.map { ReadyWorkOffer(kind: $0, readyParts: 1, priority: 0, messages: 1_000_000) }
        harness.start([grown[0], small[0], small[1]])
        for generation in harness.plan.children.keys.sorted() { harness.status(1, generation, parts: 1, sent: 5) }
        harness.at(2, .work([grown[0], grown[1]]))
        #expect(told(harness, .drain).isEmpty, "there is a place")
        harness.at(3, .work(grown))
        #expect(told(harness, .drain).count == 1)
        #expect(harness.plan.children.values.count { $0.isActive && $0.isLarge } == 2)
    }

    @Test func aMessageAndAnIdleMomentMakeItSmallAgain() {
        var harness = PlanHarness(Self.settings)
        harness.start([large[0]])
        harness.status(1, 1, parts: 2, sent: 5)
        #expect(harness.plan.children[1]?.isLarge == true)
        harness.at(2, .work([]))
        harness.status(3, 1, .idle, sent: 900)
        #expect(harness.plan.children[1]?.isLarge == false)
    }
}
