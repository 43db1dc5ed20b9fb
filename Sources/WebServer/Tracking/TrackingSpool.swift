import Foundation
import Logging
import PushCore
import Synchronization
import SystemPackage

/// Keeps hits on disk while the database is away: the files of this process, and of processes that are gone.
///
/// Records leave it in the order in which they came, the oldest file first. The file of this process is made with its first
/// record and is empty again as soon as all of it is loaded.
final class TrackingSpool: Sendable {
    /// A record and the source whose transaction it is.
    struct Head: Sendable {
        let source: UUID
        let record: TrackingSpoolRecord
    }

    private let folder: FilePath
    private let mostBytes: Int64
    private let header: TrackingSpoolHeader
    private let logger: Logger
    /// Files are used with the lock held, one at a time; reads and writes are short.
    private let state = Mutex(Box())

    /// The lock's content: a file's type is not thread-safe and must not leave it.
    private final class Box {
        var own: SpoolFile?
        var orphans: [SpoolFile] = []

        var all: [SpoolFile] { orphans + (own.map { [$0] } ?? []) }
    }

    private static let suffix = ".spool"

    /// Makes the folder, if need be, and takes over the files of processes that are gone.
    init(folder: String, mostMegabytes: Int, source: UUID, created: Int64, logger: Logger) throws {
        self.folder = FilePath(folder)
        self.logger = logger
        mostBytes = Int64(mostMegabytes) << 20
        header = TrackingSpoolHeader(source: source, created: created)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let probe = self.folder.appending(".probe-\(source.uuidString)")
            try FileDescriptor.open(probe, .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
                .close()
            try FileManager.default.removeItem(atPath: probe.string)
        } catch {
            throw SpoolError(
                code: .notWritable,
                description:
                    "The folder \(folder) of the tracking spools (web.workingPath) cannot be written: \(error). Make it, and give it to the web process's user."
            )
        }
        adoptOrphans()
    }

    /// Whether every hit that was ever put into it is loaded.
    var isEmpty: Bool { state.withLock { $0.all.allSatisfy(\.isEmpty) } }

    /// Bytes on disk.
    var bytes: Int64 { state.withLock { Self.bytes($0) } }

    /// Whether it takes no more.
    var isFull: Bool { bytes >= mostBytes }

    /// Puts a record behind all others and waits until the disk has it.
    func append(_ record: TrackingSpoolRecord) throws(SpoolError) {
        let bytes = record.bytes
        try state.withLock { (box) throws(SpoolError) in
            guard Self.bytes(box) + Int64(bytes.count) <= mostBytes else {
                throw SpoolError(
                    code: .full,
                    description:
                        "The tracking spool \(folder) has \(mostBytes >> 20) MiB, all that web.tracking.maxSpoolMb allows; hits are refused until the database is back."
                )
            }
            do {
                let file = try box.own ?? SpoolFile(creating: path(), header: header)
                box.own = file
                try file.append(bytes)
            } catch {
                throw SpoolError(
                    code: .notWritable,
                    description: "The tracking spool in \(folder) cannot be written: \(error); check the disk."
                )
            }
        }
    }

    /// The oldest record that is not loaded; nil if there is none.
    func head() -> Head? {
        state.withLock { box in
            for file in box.all {
                do {
                    if let record = try file.next() { return Head(source: file.header.source, record: record) }
                    retire(file, box)
                } catch {
                    logger.error(
                        "The tracking spool \(file.path) is damaged behind \(file.size) bytes or cannot be read (\(error)); it is put aside as .damaged."
                    )
                    file.setAside()
                    forget(file, box)
                }
            }
            return nil
        }
    }

    /// The record that ``head()`` gave is in the database.
    func take(_ head: Head) {
        state.withLock { box in
            guard let file = box.all.first(where: { $0.header.source == head.source }) else { return }
            file.take()
            if file.isEmpty { retire(file, box) }
        }
    }

    /// Takes over the files of processes that are gone, the oldest first.
    func adoptOrphans() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
        state.withLock { box in
            let known = Set(box.all.compactMap { $0.path.lastComponent?.string })
            var found: [SpoolFile] = []
            for name in names where name.hasSuffix(Self.suffix) && !known.contains(name) {
                do {
                    if let file = try SpoolFile(adopting: folder.appending(name)) { found.append(file) }
                } catch {
                    logger.warning("The tracking spool \(name) in \(folder) cannot be opened: \(error)")
                }
            }
            box.orphans = (box.orphans + found).sorted { $0.header.created < $1.header.created }
        }
    }

    /// Lets go of all files; what is left in them is loaded by whoever comes next.
    func close() {
        state.withLock { box in
            for file in box.all { if file.isEmpty { file.remove() } else { file.close() } }
            box.own = nil
            box.orphans = []
        }
    }

    private func path() -> FilePath {
        folder.appending("hits-\(header.source.uuidString.lowercased())\(Self.suffix)")
    }

    private static func bytes(_ box: Box) -> Int64 {
        box.all.reduce(0) { $0 + $1.size }
    }

    /// All of a file is loaded: this process's own is used again.
    private func retire(_ file: SpoolFile, _ box: Box) {
        guard file === box.own else {
            file.remove()
            forget(file, box)
            return
        }
        do {
            try file.cut()
        } catch {
            logger.warning("The tracking spool \(file.path) cannot be cut: \(error)")
        }
    }

    private func forget(_ file: SpoolFile, _ box: Box) {
        if box.own === file { box.own = nil }
        box.orphans.removeAll { $0 === file }
    }
}
