import Foundation
import PushCore
import Testing

@testable import MTAChild

@Suite struct ChildJournalTests {
    private let header = JournalHeader(childID: 7, generation: 2, hostID: UUID())

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("journal-\(UUID().uuidString)").path
    }

    private func intent(_ part: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        JournalEncoder.appendIntent(part: part, token: 1, ranges: [1...5], to: &bytes)
        return bytes
    }

    @Test func whatIsAppendedCanBeReadAndIsGoneAfterTheCut() throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        let empty = try Data(contentsOf: URL(fileURLWithPath: path))
        try journal.append(intent(1))
        try journal.append(intent(2))
        let written = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(written.count == empty.count + intent(1).count + intent(2).count)
        try journal.cut()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == empty)
        try journal.append(intent(3))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == empty + Data(intent(3)))
        journal.remove()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aJournalInUseIsRefused() throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        try journal.append(intent(1))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: ChildJournal.Failure.self) { try ChildJournal(path: path, header: header) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "the other's records are untouched")
        journal.remove()
    }

    @Test func aFolderThatIsNotThereIsNamed() {
        let error = #expect(throws: ChildJournal.Failure.self) {
            try ChildJournal(path: "/nowhere/at/all.journal", header: header)
        }
        #expect(error?.description.contains("/nowhere/at/all.journal") == true)
    }
}
