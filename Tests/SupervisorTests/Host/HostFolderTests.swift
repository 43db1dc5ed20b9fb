import Foundation
import OperatingSystem
import PushCore
import SystemPackage
import Testing

@testable import Supervisor

@Suite struct HostFolderTests {
    @Test func aNewFolderGetsAnIdThatStays() throws {
        let temporary = try TemporaryFolder()
        let path = temporary.path.appending("deep").appending("folder")
        var folder: HostFolder? = try HostFolder.open(path, owner: "a, process 1")
        let id = folder?.hostID
        #expect(id?.count == 36)
        folder = nil
        #expect(try HostFolder.open(path, owner: "b, process 2").hostID == id)
    }

    @Test func aSecondSupervisorIsToldWhoHoldsTheFolder() throws {
        let temporary = try TemporaryFolder()
        let first = try HostFolder.open(temporary.path, owner: "mail7, process 4711")
        let error = #expect(throws: SupervisorError.self) { try HostFolder.open(temporary.path, owner: "x") }
        #expect(error?.code == .folderInUse)
        #expect(error?.message.contains("mail7, process 4711") == true)
        withExtendedLifetime(first) {}
    }

    @Test func theOwnerOfAFolderIsKnownByItsLock() throws {
        let temporary = try TemporaryFolder()
        #expect(try Supervisor.running(in: temporary.path.string) == nil)
        #expect(try Supervisor.running(in: temporary.path.string + "/nowhere") == nil)
        let folder = try HostFolder.open(temporary.path, owner: "mail, process 7, process 4711")
        #expect(try Supervisor.running(in: temporary.path.string) == 4_711)
        folder.release()
        #expect(try Supervisor.running(in: temporary.path.string) == nil, "the text alone says nothing")
    }

    @Test func aDamagedIdIsNotReplaced() throws {
        let temporary = try TemporaryFolder()
        try temporary.write(Array("no uuid".utf8), to: HostFolder.hostIDFile)
        let error = #expect(throws: SupervisorError.self) { try HostFolder.open(temporary.path, owner: "x") }
        #expect(error?.code == .folderNotUsable)
    }

    @Test func aFileInThePlaceOfTheFolderIsReported() throws {
        let temporary = try TemporaryFolder()
        try temporary.write([], to: "file")
        let error = #expect(throws: SupervisorError.self) {
            try HostFolder.open(temporary.path.appending("file"), owner: "x")
        }
        #expect(error?.code == .folderNotUsable)
    }

    @Test func journalsAreFoundByTheirNames() throws {
        let temporary = try TemporaryFolder()
        let folder = try HostFolder.open(temporary.path, owner: "x")
        for name in ["child-12.journal", "child-3.journal", "child-x.journal", "child-4.journal.unreadable", "other"] {
            try temporary.write([], to: name)
        }
        #expect(try folder.childrenWithJournals() == [3, 12])
        #expect(folder.journal(ofChild: 3).lastComponent?.string == "child-3.journal")
    }

    @Test func aJournalIsTakenOnlyWhenItsChildIsDead() throws {
        let temporary = try TemporaryFolder()
        try temporary.write([], to: "child-1.journal")
        let path = temporary.path.appending("child-1.journal")
        var child = try FileLock.acquire(path, create: false)
        #expect(child != nil)
        guard case .alive = try JournalFile.take(path) else {
            Issue.record("a locked journal was taken")
            return
        }
        child = nil
        guard case .taken(let file) = try JournalFile.take(path) else {
            Issue.record("a free journal was not taken")
            return
        }
        #expect(throws: JournalError.self, "a child writes its header before anything else") { try file.read() }
        try file.remove()
        guard case .missing = try JournalFile.take(path) else {
            Issue.record("a removed journal was found")
            return
        }
    }

    /// A record that a dying process left incomplete has not happened; a damaged disk may hide records that have.
    @Test func aTornEndIsReadAndADamagedJournalIsNot() throws {
        let temporary = try TemporaryFolder()
        var bytes: [UInt8] = []
        JournalEncoder.append(JournalHeader(childID: 1, generation: 1, hostID: UUID()), to: &bytes)
        for part in 1...3 as ClosedRange<Int64> {
            JournalEncoder.appendIntent(part: part, token: 1, ranges: [1...9], to: &bytes)
        }
        var damaged = bytes
        damaged[bytes.count / 2] ^= 0x55
        try temporary.write(Array(bytes.dropLast(5)), to: "child-1.journal")
        try temporary.write(damaged, to: "child-2.journal")
        guard case .taken(let torn) = try JournalFile.take(temporary.path.appending("child-1.journal")),
            case .taken(let wrong) = try JournalFile.take(temporary.path.appending("child-2.journal"))
        else {
            Issue.record("free journals were not taken")
            return
        }
        #expect(try torn.read().summary.claims.count == 2)
        #expect(try torn.read().damage == nil)
        let contents = try wrong.read()
        #expect(contents.summary.claims.count < 3, "what comes after the damage is not known")
        #expect(contents.damage != nil)
    }
}
