import Foundation
import OperatingSystem
import PushCore
import SystemPackage
import Testing

@testable import MTAChild
@testable import Store

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

    private func cut(_ bytes: Int64) -> Data {
        var record: [UInt8] = []
        JournalEncoder.appendCut(bytes: bytes, to: &record)
        return Data(record)
    }

    private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// The end of the last complete record, in bytes. A reader may see a partly written record.
    private func wholeLength(_ path: String) throws -> Int64 {
        var decoder = try JournalDecoder([UInt8](try contents(path)))
        while decoder.next() != nil {}
        return Int64(decoder.validLength)
    }

    private func claims(_ parts: Int64...) -> Set<PartToken> { Set(parts.map { PartToken(part: $0, token: 1) }) }

    @Test func aCutTakesOutWhatOtherPartsHave() throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        defer { journal.remove() }
        let empty = try contents(path)
        for part in Int64(1)...3 { try journal.append(intent(part)) }
        let length = Int64(try contents(path).count)
        #expect(length == Int64(empty.count + 3 * intent(1).count))
        try journal.append(intent(4))
        var written = length + Int64(intent(4).count)
        #expect(journal.writtenLength == written)
        try journal.cut(upTo: length, keeping: claims(2))
        let lost = length - Int64(empty.count + intent(2).count + cut(0).count)
        #expect(
            try contents(path) == empty + Data(intent(2)) + cut(lost) + Data(intent(4)),
            "what came later stays, whosever it is"
        )
        #expect(journal.writtenLength == written)
        try journal.append(intent(5))
        #expect(try contents(path) == empty + Data(intent(2)) + cut(lost) + Data(intent(4)) + Data(intent(5)))
        written += Int64(intent(5).count)
        try journal.cut(upTo: Int64(try contents(path).count), keeping: [])
        #expect(try contents(path) == empty + cut(written - Int64(empty.count + cut(0).count)))
        #expect(journal.writtenLength == written)
        var decoder = try JournalDecoder([UInt8](try contents(path)))
        #expect(decoder.next() == nil && !decoder.isTorn && decoder.writtenLength == written)
        #expect(!FileManager.default.fileExists(atPath: path + JournalHeader.cutSuffix))
    }

    /// A process that opened the journal before the cut must not take it for a dead child's.
    @Test func aJournalThatWasCutIsLocked() throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        let early = try FileDescriptor.open(FilePath(path), .readOnly)
        defer { try? early.close() }
        try journal.append(intent(1))
        try journal.cut(upTo: Int64(try contents(path).count), keeping: claims(1))
        #expect(try early.tryLock(), "no process holds the old file, which its reader cannot know")
        #expect(try FileLock.acquire(FilePath(path), create: false) == nil)
        journal.remove()
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileLock.acquire(FilePath(path), create: false) }
    }

    @Test func itIsToBeCutOnceForEachTimeItHasGrown() throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        defer { journal.remove() }
        var record: [UInt8] = []
        let answers = (1...200).map {
            JournalAnswer(sequence: $0, outcomeClass: .permanent, reason: String(repeating: "r", count: 60_000))
        }
        JournalEncoder.appendAnswers(part: 1, token: 1, timeMilliseconds: 0, answers, to: &record)
        let limit = Int(ChildJournal.longSize) / record.count
        for _ in 0..<limit { try journal.append(record) }
        #expect(journal.lengthToCut() == nil)
        for _ in 0..<2 { try journal.append(record) }
        let length = try #require(journal.lengthToCut())
        #expect(length == Int64(try contents(path).count))
        #expect(journal.lengthToCut() == nil, "it was told")
        try journal.cut(upTo: length, keeping: claims(1))
        #expect(journal.lengthToCut() == nil, "what is kept is no growth")
        for _ in 0...limit + 1 { try journal.append(record) }
        #expect(journal.lengthToCut() == Int64(try contents(path).count))
    }

    /// If no new file can be created, the journal stays unchanged.
    @Test func aCutThatFailsLeavesAllOfIt() throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        defer { journal.remove() }
        try journal.append(intent(1))
        let before = try contents(path)
        try FileManager.default.createDirectory(
            atPath: path + JournalHeader.cutSuffix,
            withIntermediateDirectories: false
        )
        defer { try? FileManager.default.removeItem(atPath: path + JournalHeader.cutSuffix) }
        #expect(throws: ChildJournal.Failure.self) { try journal.cut(upTo: Int64(before.count), keeping: []) }
        #expect(throws: ChildJournal.Failure.self, "no end of a record") {
            try journal.cut(upTo: Int64(before.count) - 1, keeping: [])
        }
        try journal.append(intent(2))
        #expect(try contents(path) == before + Data(intent(2)))
    }

    /// Many threads append during repeated cuts: no kept record is lost, torn or out of order.
    @Test func whatIsAppendedWhileItIsCutIsThere() async throws {
        let path = temporaryPath()
        let journal = try ChildJournal(path: path, header: header)
        defer { journal.remove() }
        let cuts = Task.detached {
            var count = 0
            while !Task.isCancelled {
                let length = try wholeLength(path)
                try journal.cut(upTo: length, keeping: [PartToken(part: 1, token: 1)])
                count += 1
                await Task.yield()
            }
            return count
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in Int64(1)...2 {
                group.addTask {
                    for number in Int32(0)..<5_000 {
                        var bytes: [UInt8] = []
                        JournalEncoder.appendIntent(part: part, token: 1, ranges: [number...number], to: &bytes)
                        try journal.append(bytes)
                        if number % 64 == 0 { await Task.yield() }
                    }
                }
            }
            try await group.waitForAll()
        }
        cuts.cancel()
        #expect(try await cuts.value > 0)
        var decoder = try JournalDecoder([UInt8](try contents(path)))
        var kept: [Int32] = []
        while let record = decoder.next() {
            if case .intent(1, _, let ranges) = record { kept += ranges.map(\.lowerBound) }
        }
        #expect(!decoder.isTorn && kept == Array(0..<5_000))
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
