// TrackingSpools: keeps tracking hits on disk while the database is away, and loads each of them once.
//
// WHAT IT DOES
//   A web process puts hits that it cannot store into a file of its own; whoever can reach the file and the database loads
//   them, in their order. The bytes of a record are PushCore's (TrackingSpoolFormat.swift).
//
// HOW IT IS USED
//   WebServer opens a TrackingSpool with a limit and calls append(_:); FeedbackWorker opens one that only adopts.
//   SpoolLoader.load() takes head(), resolves its hits by the tracking keys, stores them through HitStoring, and calls
//   take(_:). adoptOrphans() takes over files whose process is gone; backlog says what waits.
//
// THREADS AND TASKS
//   Any thread: all files of a spool are used under one mutex. append waits until the disk has the record (fdatasync), with
//   the mutex held. The database is asked outside of it.
//
// STATE AND FILES
//   web.workingPath: hits-UUID.spool, one a process, made with its first record and cut when all of it is loaded; .spool.new
//   while one is made. A flock on the file is the proof that its process lives. The position of a record is stored with its
//   hits, so that one that was stored before, by whomever, changes nothing. After a kill everything that was answered as kept
//   is in the file; a torn last record is left out, as nobody was told that it is there.
//
// FAILURES
//   Folder not writable: an error at the start. Disk full, or the limit reached: SpoolError, and the web process refuses hits
//   with 503. Database away: what is there waits. Records that are damaged: the file is put aside as .damaged; a header that
//   is not known: as .unreadable; both stay for a person to look at. It never deletes a file that holds records which are not
//   loaded.
//
// SETTINGS
//   web.workingPath and web.tracking.maxSpoolMb, through its callers.
//
// SEE ALSO
//   SpoolFile.swift, SpoolLoader.swift, Sources/PushCore/Tracking/TrackingSpoolFormat.swift,
//   Sources/WebServer/Devices/TrackingWriter.swift, Sources/FeedbackWorker/SpoolDatabase.swift

import Foundation
import Logging
import PushCore
import Synchronization
import SystemPackage

/// Keeps hits on disk while the database is away: the files of this process, and of processes that are gone.
///
/// Records leave it in the order in which they came, the oldest file first. The file of this process is made with its first
/// record and is empty again as soon as all of it is loaded.
public final class TrackingSpool: Sendable {
    /// A record and the source whose transaction it is.
    public struct Head: Sendable {
        /// The process that kept it.
        public let source: UUID
        public let record: TrackingSpoolRecord
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
        /// The position of the last record that was appended.
        var lastPosition: Int64 = 0
        /// Files that cannot be taken over, each told once.
        var troubles: Set<String> = []

        var all: [SpoolFile] { orphans + (own.map { [$0] } ?? []) }
    }

    private static let suffix = ".spool"
    static let damagedSuffix = ".damaged"
    static let unreadableSuffix = ".unreadable"

    /// Takes over the files of processes that are gone from a folder that is there; it takes no records of its own.
    public init(adoptingIn folder: String, logger: Logger) {
        self.folder = FilePath(folder)
        self.logger = logger
        mostBytes = 0
        header = TrackingSpoolHeader(source: UUID(), created: 0)
        adoptOrphans()
    }

    /// Makes the folder, if need be, and takes over the files of processes that are gone.
    public init(folder: String, mostMegabytes: Int, source: UUID, created: Int64, logger: Logger) throws {
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
    public var isEmpty: Bool { state.withLock { $0.all.allSatisfy(\.isEmpty) } }

    /// Bytes on disk.
    public var bytes: Int64 { state.withLock { Self.bytes($0) } }

    /// Whether it takes no more.
    public var isFull: Bool { bytes >= mostBytes }

    /// Puts a record behind all others and waits until the disk has it.
    public func append(_ record: TrackingSpoolRecord) throws(SpoolError) {
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
                let file = try box.own ?? SpoolFile.make(path(), header: header)
                box.own = file
                try file.append(bytes)
                box.lastPosition = record.position
            } catch {
                throw SpoolError(
                    code: .notWritable,
                    description: "The tracking spool in \(folder) cannot be written: \(error); check the disk."
                )
            }
        }
    }

    /// The oldest record that is not loaded; nil if there is none.
    public func head() -> Head? {
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
    public func take(_ head: Head) {
        state.withLock { box in
            guard let file = box.all.first(where: { $0.header.source == head.source }) else { return }
            file.take()
            if file.isEmpty { retire(file, box) }
        }
    }

    /// What is in it now.
    public func mark() -> Mark {
        state.withLock { box in
            // Nobody appends to what was taken over.
            var sources = Dictionary(box.orphans.map { ($0.header.source, Int64.max) }, uniquingKeysWith: max)
            if box.own != nil { sources[header.source] = box.lastPosition }
            return Mark(sources: sources)
        }
    }

    /// Takes over the files of processes that are gone, the oldest first, and puts aside what is no spool.
    public func adoptOrphans() {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.string)
        } catch {
            guard state.withLock({ $0.troubles.insert(".").inserted }) else { return }
            logger.warning("The folder \(folder) of tracking spools cannot be read, and what is in it waits: \(error)")
            return
        }
        state.withLock { box in
            box.troubles.formIntersection(names)
            let known = Set(box.all.compactMap { $0.path.lastComponent?.string })
            var found: [SpoolFile] = []
            for name in names where !known.contains(name) {
                do {
                    if name.hasSuffix(Self.suffix + SpoolFile.newSuffix) {
                        try SpoolFile.removeUnfinished(folder.appending(name))
                    } else if name.hasSuffix(Self.suffix) {
                        if let file = try adopt(name) { found.append(file) }
                    }
                    box.troubles.remove(name)
                } catch {
                    note(error, of: name, box)
                }
            }
            box.orphans = (box.orphans + found).sorted { $0.header.created < $1.header.created }
        }
    }

    /// Tells once of a file that may have hits and cannot be taken over; one that is gone was loaded by somebody else.
    private func note(_ error: any Error, of name: String, _ box: Box) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(name).string)
        let size = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        guard size > Int64(TrackingSpoolHeader.length), box.troubles.insert(name).inserted else {
            return
        }
        logger.warning("The tracking spool \(name) in \(folder) cannot be opened, and its hits wait: \(error)")
    }

    /// What waits here though its process is gone; what living processes keep is theirs to load.
    public var backlog: SpoolBacklog {
        let aside = names.count { $0.hasSuffix(Self.damagedSuffix) || $0.hasSuffix(Self.unreadableSuffix) }
        return state.withLock { box in
            let waiting = box.orphans.filter { !$0.isEmpty }
            return SpoolBacklog(
                files: waiting.count + aside + box.troubles.count,
                bytes: waiting.reduce(0) { $0 &+ $1.left }
            )
        }
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
    }

    private func adopt(_ name: String) throws -> SpoolFile? {
        switch try SpoolFile.adopt(folder.appending(name)) {
        case .adopted(let file): return file
        case .held: break
        case .removed: logger.info("The tracking spool \(name) in \(folder) was empty and is removed.")
        case .unreadable(let aside):
            logger.warning(
                "The tracking spool \(name) in \(folder) begins with no header that this version knows: a development version or a newer one made it, or the disk is damaged. It is put aside as \(aside), and hits in it are not loaded: look at it and remove it (pushmta-lab quickstart --fresh starts over)."
            )
        }
        return nil
    }

    /// Lets go of all files; what is left in them is loaded by whoever comes next.
    public func close() {
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

extension TrackingSpool {
    /// What was in the spool at a moment.
    public struct Mark: Sendable {
        /// The last position of each source.
        let sources: [UUID: Int64]

        /// Whether a record was there.
        public func includes(_ head: Head) -> Bool {
            sources[head.source].map { head.record.position <= $0 } ?? false
        }
    }
}

/// What waits in a folder of spools though the process that kept it is gone.
public struct SpoolBacklog: Sendable, Hashable {
    /// Files with hits that are not loaded, those included that cannot be.
    public var files: Int
    /// The bytes of these hits, as far as they can be told.
    public var bytes: Int64

    /// A backlog; none unless given.
    public init(files: Int = 0, bytes: Int64 = 0) {
        self.files = files
        self.bytes = bytes
    }
}

/// Why a tracking spool cannot be used.
public struct SpoolError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The folder or a file in it cannot be written.
        case notWritable
        /// All the room that it may take is taken.
        case full
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String
}
