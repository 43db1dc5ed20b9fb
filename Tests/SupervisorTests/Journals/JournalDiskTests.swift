import SystemPackage
import Testing

@testable import Supervisor

@Suite struct JournalDiskTests {
    @Test func aProbeLeavesNothingBehind() throws {
        let folder = try TemporaryFolder()
        #expect(JournalDisk(folder: folder.path).probe() == nil)
        #expect(!folder.contains(JournalDisk.probeFile))
    }

    @Test func aFolderThatCannotBeWrittenIsFoundOut() throws {
        let folder = try TemporaryFolder()
        let trouble = JournalDisk(folder: folder.path.appending("nowhere")).probe()
        #expect(trouble?.contains("No such file") == true)
    }

    @Test func troubleIsShownUntilItIsOver() throws {
        let condition = HostCondition()
        condition.update { $0.journalTrouble = "No space left on device" }
        condition.update { $0.lowJournalSpace = 5 * 1_048_576 }
        condition.update { $0.journalsPutAside = ["child-3.journal.foreign", "child-4.journal.unreadable"] }
        let alarm = condition.current.troubles.map(\.text).joined(separator: " ")
        #expect(alarm.contains("No space left on device"))
        #expect(alarm.contains("5 MiB"))
        #expect(alarm.contains("child-3.journal.foreign and 1 more"))
        #expect(condition.current.troubles.allSatisfy { !$0.remedy.isEmpty }, "each says what to do")
        condition.update { condition in
            condition.journalTrouble = nil
            condition.lowJournalSpace = nil
            condition.journalsPutAside = []
        }
        #expect(condition.current.troubles.isEmpty)
    }
}
