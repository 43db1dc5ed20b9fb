import Foundation
import OperatingSystem
import PushCore
import Testing

@testable import Supervisor

@Suite struct JournalIdentityTests {
    private let identity = JournalIdentity(hostID: UUID(), bootID: UUID(), installationID: UUID())

    private func header(_ change: (inout JournalHeader) -> Void = { _ in }) -> JournalHeader {
        var header = JournalHeader(
            childID: 5,
            generation: 1,
            hostID: identity.hostID ?? UUID(),
            bootID: identity.bootID,
            installationID: identity.installationID
        )
        change(&header)
        return header
    }

    private func isForeign(_ header: JournalHeader) -> Bool {
        if case .foreign = identity.judge(header, ofChild: 5) { true } else { false }
    }

    @Test func anOwnJournalIsReplayed() {
        #expect(identity.judge(header(), ofChild: 5) == .ours)
    }

    @Test func anotherChildHostOrDatabaseIsForeign() {
        #expect(isForeign(header { $0.childID = 6 }))
        #expect(isForeign(header { $0.hostID = UUID() }))
        #expect(isForeign(header { $0.installationID = UUID() }))
        #expect(isForeign(header { ($0.installationID, $0.bootID) = (UUID(), UUID()) }))
    }

    @Test func anEarlierBootMayHaveLostTheEnd() {
        #expect(identity.judge(header { $0.bootID = UUID() }, ofChild: 5) == .ofEarlierBoot)
    }

    @Test func whatIsNotKnownIsNotHeldAgainstIt() {
        #expect(identity.judge(header { ($0.installationID, $0.bootID) = (nil, nil) }, ofChild: 5) == .ours)
        let blind = JournalIdentity()
        #expect(blind.judge(header(), ofChild: 5) == .ours)
    }

    @Test func theBootHasAnIdThatStays() {
        let id = BootID.current()
        #expect(id.flatMap { UUID(uuidString: $0) } != nil)
        #expect(BootID.current() == id)
    }
}
