import Foundation
import Logging
import PushCore
import Synchronization
import Testing
import TrackingSpools

/// The contents of spool files after their process ended in any way.
@Suite struct SpoolTests {
    private func folder() -> String { NSTemporaryDirectory() + "spool-\(UUID().uuidString)" }

    private func spool(_ folder: String, megabytes: Int = 10, created: Int64 = 1) throws -> TrackingSpool {
        try TrackingSpool(
            folder: folder,
            maxMegabytes: megabytes,
            source: UUID(),
            created: created,
            logger: Logger(label: "spool") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func record(_ position: Int64, hits: Int = 1, agent: String = "a") -> TrackingSpoolRecord {
        TrackingSpoolRecord(
            position: position,
            hits: (0..<hits).map { number in
                TrackingHit(
                    id: TrackingID(message: .number(Int64(number)), deliveries: [16], kind: .received),
                    microseconds: position,
                    address: IPAddress("192.0.2.1"),
                    userAgent: agent
                )
            }
        )
    }

    private func drain(_ spool: TrackingSpool) -> [Int64] {
        var positions: [Int64] = []
        while let head = spool.head() {
            positions.append(head.record.position)
            spool.take(head)
        }
        return positions
    }

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func recordsComeOutInOrderAndTheFileIsUsedAgain() throws {
        let folder = folder()
        let spool = try spool(folder)
        #expect(try files(folder).isEmpty)
        for position in Int64(1)...5 { try spool.append(record(position)) }
        #expect(!spool.isEmpty)
        #expect(spool.head()?.record == record(1))
        #expect(spool.head()?.record == record(1), "looking takes nothing")
        #expect(drain(spool) == [1, 2, 3, 4, 5])
        #expect(spool.isEmpty)
        #expect(spool.bytes == Int64(TrackingSpoolHeader.length))
        try spool.append(record(6))
        #expect(drain(spool) == [6])
        spool.close()
        #expect(try files(folder).isEmpty)
    }

    @Test func largeSpoolsAreReadInPieces() throws {
        let spool = try spool(folder(), megabytes: 100)
        let agent = String(repeating: "x", count: 300)
        for position in Int64(1)...20 { try spool.append(record(position, hits: 1_000, agent: agent)) }
        #expect(spool.bytes > 5 << 20)
        // Records can be appended while the file is read.
        for position in Int64(1)...10 {
            let head = try #require(spool.head())
            #expect(head.record == record(position, hits: 1_000, agent: agent))
            spool.take(head)
            try spool.append(record(position + 20))
        }
        #expect(drain(spool) == Array(11...30))
        spool.close()
    }

    @Test func aFullSpoolRefusesAndGoesOnWhenThereIsRoom() throws {
        let spool = try spool(folder(), megabytes: 1)
        let agent = String(repeating: "x", count: 300)
        #expect(throws: SpoolError.self) {
            for position in Int64(1)...100 { try spool.append(record(position, hits: 100, agent: agent)) }
        }
        let positions = drain(spool)
        #expect(positions == Array(1...Int64(positions.count)) && positions.count > 10)
        try spool.append(record(200))
        #expect(drain(spool) == [200])
        spool.close()
    }

    /// Kill -9 during a write: the torn record was not answered and is skipped; all earlier records are intact.
    @Test func aTornTailIsLeftOut() throws {
        for cut in 1..<record(3).bytes.count {
            let folder = folder()
            let first = try spool(folder)
            for position in Int64(1)...3 { try first.append(record(position)) }
            let name = try #require(try files(folder).first)
            first.close()
            let path = folder + "/" + name
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            try whole.dropLast(cut).write(to: URL(fileURLWithPath: path))
            let next = try spool(folder)
            #expect(drain(next) == [1, 2], "cut \(cut)")
            #expect(next.isEmpty)
            next.close()
            #expect(try files(folder).isEmpty)
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test func aDamagedFileIsPutAside() throws {
        let folder = folder()
        let first = try spool(folder)
        for position in Int64(1)...3 { try first.append(record(position)) }
        let name = try #require(try files(folder).first)
        first.close()
        let path = folder + "/" + name
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[TrackingSpoolHeader.length + record(1).bytes.count + 20] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let next = try spool(folder)
        #expect(drain(next) == [1])
        try next.append(record(9))
        #expect(drain(next) == [9])
        next.close()
        #expect(try files(folder) == [name + ".damaged"])
    }

    /// Files of living processes are left to them; files of dead processes are taken over, oldest first.
    @Test func orphansAreTakenOverOldestFirst() throws {
        let folder = folder()
        let living = try spool(folder, created: 3)
        try living.append(record(30))
        let late = try spool(folder, created: 2)
        try late.append(record(20))
        late.close()
        let early = try spool(folder, created: 1)
        // It had taken over the previous file; both are given back.
        try early.append(record(10))
        early.close()
        let next = try spool(folder, created: 4)
        try next.append(record(40))
        #expect(drain(next) == [10, 20, 40])
        living.close()
        next.adoptOrphans()
        #expect(drain(next) == [30])
        next.close()
        #expect(try files(folder).isEmpty)
    }

    /// A file with an unreadable header is set aside and reported; an empty file is ignored.
    @Test func whatIsNoSpoolIsPutAsideAndAnEmptyFileRemoved() throws {
        let folder = folder()
        let first = try spool(folder)
        try first.append(record(1))
        let name = try #require(try files(folder).first)
        first.close()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
        bytes[4] = 9
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/hits-other-version.spool"))
        try Data(bytes.prefix(20)).write(to: URL(fileURLWithPath: folder + "/hits-short.spool"))
        for empty in ["hits-old.spool", "hits-young.spool", "hits-old.spool.new"] {
            try Data().write(to: URL(fileURLWithPath: folder + "/" + empty))
            guard !empty.contains("young") else { continue }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3_600)],
                ofItemAtPath: folder + "/" + empty
            )
        }
        let told = Told()
        let next = TrackingSpool(adoptingIn: folder, logger: Logger(label: "spool") { _ in told })
        next.adoptOrphans()
        #expect(drain(next) == [1])
        // The young file may still be in creation.
        #expect(
            try files(folder) == [
                "hits-other-version.spool.unreadable", "hits-short.spool.unreadable", "hits-young.spool",
            ]
        )
        #expect(next.backlog.files == 2)
        #expect(told.warnings.count { $0.contains("hits-other-version.spool") } == 1)
        #expect(told.warnings.count { $0.contains("hits-short.spool") } == 1)
        next.close()
    }

    /// A file that a living process has just created is not touched, whatever it contains.
    @Test func aHeldFileIsNeverPutAside() throws {
        let folder = folder()
        let living = try spool(folder)
        try living.append(record(1))
        let name = try #require(try files(folder).first)
        let handle = try #require(FileHandle(forWritingAtPath: folder + "/" + name))
        try handle.write(contentsOf: Data([0, 0, 0, 0]))
        let next = TrackingSpool(adoptingIn: folder, logger: Logger(label: "spool") { _ in SwiftLogNoOpLogHandler() })
        #expect(next.isEmpty)
        #expect(try files(folder) == [name])
        living.close()
        next.adoptOrphans()
        #expect(try files(folder) == [name + ".unreadable"])
        next.close()
    }

    @Test func aFolderThatCannotBeWrittenIsAnError() throws {
        #expect(throws: SpoolError.self) { try spool("/proc/pushmta") }
    }
}

/// Records warnings.
private final class Told: LogHandler, Sendable {
    private let texts = Mutex<[String]>([])

    var warnings: [String] { texts.withLock { $0 } }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .warning }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        texts.withLock { $0.append("\(event.message)") }
    }
}
