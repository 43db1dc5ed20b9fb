import ProcessProtocol
import Testing

@testable import Supervisor

@Suite struct ChildEndTests {
    private func judge(
        _ termination: ChildTermination,
        announced: ChildExitReason? = nil,
        cause: ChildExitReason? = nil,
        outOfMemory: Bool = false
    ) -> ChildExitReason {
        ChildEnd(termination, announced: announced, endedBecause: cause, outOfMemoryKillSeen: outOfMemory).reason
    }

    @Test func exitStatuses() {
        #expect(judge(.exited(status: 0)) == .drained)
        #expect(judge(.exited(status: 0), announced: .idle) == .idle)
        #expect(judge(.exited(status: 78)) == .settings)
        #expect(judge(.exited(status: 3)) == .unknownStatus)
        #expect(judge(.exited(status: 70), announced: .idle) == .internalError, "it crashed on its way out")
    }

    @Test func whatIsStuckStaysStuckThoughItObeys() {
        #expect(judge(.exited(status: 0), announced: .drained, cause: .stuck) == .stuck)
        #expect(judge(.exited(status: 0), cause: .stuck) == .stuck)
        #expect(judge(.exited(status: 0), announced: .drained, cause: .drainTimeout) == .drained)
    }

    @Test func signals() {
        #expect(judge(.signalled(11)) == .signalled)
        #expect(judge(.signalled(9), cause: .stuck) == .stuck)
        #expect(judge(.signalled(9), outOfMemory: true) == .outOfMemory)
        #expect(judge(.signalled(9), cause: .drainTimeout, outOfMemory: true) == .drainTimeout)
        #expect(judge(.signalled(11), outOfMemory: true) == .signalled)
    }

    @Test func statusesAndReasonsBelongTogether() {
        for reason in ChildExitReason.allCases {
            guard let status = reason.exitStatus else { continue }
            #expect(reason.isOrderly == (status == 0))
            if status != 0 { #expect(ChildExitReason(exitStatus: status) == reason) }
        }
    }
}
