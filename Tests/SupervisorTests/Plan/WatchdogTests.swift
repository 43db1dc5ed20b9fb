import ProcessProtocol
import PushCore
import Testing

@testable import Supervisor

@Suite struct WatchdogTests {
    private func running() -> PlanHarness {
        var harness = PlanHarness()
        harness.start([PlanHarness.offer(PlanHarness.push)])
        harness.status(0, 1, parts: 1, sent: 1, progress: 7)
        return harness
    }

    @Test func aChildWithWorkAndWithoutProgressIsEnded() {
        var harness = running()
        for second in 1...59 { #expect(harness.status(Double(second), 1, parts: 1, sent: 1, progress: 7).isEmpty) }
        let actions = harness.status(60, 1, parts: 1, sent: 1, progress: 7)
        #expect(actions.contains(.signal(generation: 1, Signals.terminate)))
        let end = harness.ended(61, 1, .signalled(Signals.terminate))
        #expect(end.contains(.recover(generation: 1, ChildEnd(reason: .stuck, detail: "signal 15"))))
    }

    @Test func aChildThatSaysNothingIsEnded() {
        var harness = running()
        #expect(harness.pass(from: 0, to: 59.9).isEmpty)
        #expect(harness.at(60, .tick).contains(.signal(generation: 1, Signals.terminate)))
    }

    @Test(arguments: [ChildState.idle, .stalled])
    func aChildThatHasNothingToDoOrCanDoNothingIsLeftAlone(state: ChildState) {
        var harness = running()
        let parts = state == .stalled ? 3 : 0
        for second in 1...200 { #expect(harness.status(Double(second), 1, state, parts: parts, progress: 7).isEmpty) }
    }

    /// A replacement would restart the pauses between dials, and this child holds the only place for probes.
    @Test func aChildThatReachesNoGatewayIsNotReplaced() {
        var harness = running()
        for second in 1...3_600 {
            #expect(harness.status(Double(second), 1, .probing, parts: 1, sent: 1, progress: 7).isEmpty)
            #expect(harness.at(Double(second), .work([PlanHarness.offer(PlanHarness.push)])).isEmpty)
        }
        let prober = harness.plan.children[1]
        #expect(prober?.phase == .running, "an hour later it is there")
    }

    @Test func timeWithoutTheDatabaseDoesNotCount() {
        var harness = running()
        harness.pass(from: 0, to: 50)
        harness.at(50, .databaseAvailable(false))
        #expect(harness.pass(from: 50, to: 500).isEmpty)
        harness.at(500, .databaseAvailable(true))
        #expect(harness.pass(from: 501, to: 559.9).isEmpty)
        #expect(harness.at(560, .tick).contains(.signal(generation: 1, Signals.terminate)))
    }

    @Test func aSupervisorThatWasStoppedHeardNobodyAndEndsNobody() {
        var harness = running()
        #expect(harness.at(300, .tick).isEmpty)
        #expect(harness.pass(from: 301, to: 359.9).isEmpty, "the child has its whole timeout again")
        #expect(harness.at(360, .tick).contains(.signal(generation: 1, Signals.terminate)))
    }

    @Test func progressKeepsItAlive() {
        var harness = running()
        for second in 1...200 {
            #expect(harness.status(Double(second), 1, parts: 1, sent: 1, progress: UInt64(second)).isEmpty)
        }
    }

    @Test func linesOfAnotherGenerationAreIgnored() {
        var harness = running()
        var report = ChildReport(pid: 5, state: .idle)
        report.counts.sent = 99
        let stale = ChildStatus(generation: 9, report: report)
        harness.at(1, .childStatus(generation: 1, stale))
        #expect(harness.plan.children[1]?.status?.report.counts.sent == 1)
    }
}
