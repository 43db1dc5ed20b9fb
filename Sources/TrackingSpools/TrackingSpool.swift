// TrackingSpools: keeps tracking hits on disk while the database is down, and loads each of them once.
//
// WHAT IT DOES
//   A web process writes hits that it cannot store into a file of its own. A process that reaches the file and the
//   database loads them in order. PushCore defines the bytes of a record (TrackingSpoolFormat.swift).
//
// HOW IT IS USED
//   WebServer opens a TrackingSpool with a limit and calls append(_:). FeedbackWorker opens one that only adopts files.
//   SpoolLoader.load() reads head(), resolves its hits by the tracking keys, stores them through HitStoring, and calls
//   take(_:). adoptOrphans() takes over files whose process is gone; backlog counts what waits.
//
// THREADS AND TASKS
//   May be called from any thread: one mutex guards all files of a spool. append waits until the record is on disk
//   (fdatasync) with the mutex held. The database is used outside the mutex.
//
// STATE AND FILES
//   web.workingPath: hits-UUID.spool, one per process, created with its first record and truncated when all of it is
//   loaded; .spool.new during creation. A flock on the file proves that its process is alive. The position of a record
//   is stored with its hits, so a record that any process stored before changes nothing. After a kill, every
//   acknowledged hit is in the file; a torn last record is ignored, because it was not acknowledged.
//
// FAILURES
//   Folder not writable: an error at the start. Disk full, or limit reached: SpoolError, and the web process refuses
//   hits with 503. Database down: the hits wait. Damaged records: the file is put aside as .damaged. Unknown header: as
//   .unreadable. Both are kept for an operator. It never deletes a file with records that are not loaded.
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

/// Keeps hits on disk while the database is down: the files of this process, and of processes that are gone.
///
/// Records leave it in order, the oldest file first. The file of this process is created with its first record, and
/// emptied as soon as all of it is loaded.
package final class TrackingSpool: Sendable {
    /// A record and its source.
    package struct Head: Sendable {
        /// The process that wrote it.
        package let source: UUID
        package let record: TrackingSpoolRecord
    }

    private let folder: FilePath
    private let maxBytes: Int64
    private let header: TrackingSpoolHeader
    private let logger: Logger
    /// Files are used with the lock held, one at a time; reads and writes are short.
    private let state = Mutex(Box())

    /// The content of the lock: a file is not thread-safe and must not leave it.
    private final class Box {
        var own: SpoolFile?
        var orphans: [SpoolFile] = []
        /// The position of the last appended record.
        var lastPosition: Int64 = 0
        /// Files that cannot be taken over, each logged once.
        var troubles: Set<String> = []

        var all: [SpoolFile] { orphans + (own.map { [$0] } ?? []) }
    }

    private static let suffix = ".spool"
    static let damagedSuffix = ".damaged"
    static let unreadableSuffix = ".unreadable"

    /// Opens an existing folder to take over the files of processes that are gone; this spool takes no records of its
    /// own.
    package init(adoptingIn folder: String, logger: Logger) {
        self.folder = FilePath(folder)
        self.logger = logger
        maxBytes = 0
        header = TrackingSpoolHeader(source: UUID(), created: 0)
        adoptOrphans()
    }

    /// Creates the folder if needed, and takes over the files of processes that are gone.
    package init(folder: String, maxMegabytes: Int, source: UUID, created: Int64, logger: Logger) throws {
        self.folder = FilePath(folder)
        self.logger = logger
        maxBytes = Int64(maxMegabytes) << 20
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
                    "The folder \(folder) of the tracking spools (web.workingPath) cannot be written: \(error). Create it, and give it to the web process's user."
            )
        }
        adoptOrphans()
    }

    /// Whether every hit ever put into it is loaded.
    package var isEmpty: Bool { state.withLock { $0.all.allSatisfy(\.isEmpty) } }

    /// The bytes on disk.
    package var bytes: Int64 { state.withLock { Self.bytes($0) } }

    /// Whether the limit is reached.
    package var isFull: Bool { bytes >= maxBytes }

    /// Appends a record and waits until it is on disk.
    package func append(_ record: TrackingSpoolRecord) throws(SpoolError) {
        let bytes = record.bytes
        try state.withLock { (box) throws(SpoolError) in
            guard Self.bytes(box) + Int64(bytes.count) <= maxBytes else {
                throw SpoolError(
                    code: .full,
                    description:
                        "The tracking spool \(folder) has reached the \(maxBytes >> 20) MiB that web.tracking.maxSpoolMb allows; hits are refused until the database is back."
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
                    description: "The tracking spool in \(folder) cannot be written: \(error). Check the disk."
                )
            }
        }
    }

    /// The oldest record not loaded; nil if there is none.
    package func head() -> Head? {
        state.withLock { box in
            for file in box.all {
                do {
                    if let record = try file.next() { return Head(source: file.header.source, record: record) }
                    retire(file, box)
                } catch {
                    logger.error(
                        "The tracking spool \(file.path) (\(file.size) bytes) is damaged or cannot be read (\(error)); it is put aside as .damaged."
                    )
                    file.setAside()
                    forget(file, box)
                }
            }
            return nil
        }
    }

    /// Marks the record from ``head()`` as loaded.
    package func take(_ head: Head) {
        state.withLock { box in
            guard let file = box.all.first(where: { $0.header.source == head.source }) else { return }
            file.take()
            if file.isEmpty { retire(file, box) }
        }
    }

    /// The current content.
    package func mark() -> Mark {
        state.withLock { box in
            // No process appends to a file that was taken over.
            var sources = Dictionary(box.orphans.map { ($0.header.source, Int64.max) }, uniquingKeysWith: max)
            if box.own != nil { sources[header.source] = box.lastPosition }
            return Mark(sources: sources)
        }
    }

    /// Takes over the files of processes that are gone, the oldest first, and puts aside files that are not spools.
    package func adoptOrphans() {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.string)
        } catch {
            guard state.withLock({ $0.troubles.insert(".").inserted }) else { return }
            logger.warning("The folder \(folder) of tracking spools cannot be read, so hits in it wait: \(error)")
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

    /// Logs once a file that may have hits but cannot be taken over. If it no longer exists, another process has loaded
    /// it.
    private func note(_ error: any Error, of name: String, _ box: Box) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(name).string)
        let size = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        guard size > Int64(TrackingSpoolHeader.length), box.troubles.insert(name).inserted else {
            return
        }
        logger.warning("The tracking spool \(name) in \(folder) cannot be opened, so its hits wait: \(error)")
    }

    /// The backlog of processes that are gone; a living process loads its own file.
    package var backlog: SpoolBacklog {
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
        case .removed: logger.info("The tracking spool \(name) in \(folder) was empty and has been removed.")
        case .unreadable(let aside):
            logger.warning(
                "The tracking spool \(name) in \(folder) has an unknown header: a development version or a newer one created it, or the disk is damaged. It is put aside as \(aside), and its hits are not loaded: examine and remove it (pushmta-lab quickstart --fresh starts over)."
            )
        }
        return nil
    }

    /// Releases all files; the next process loads what is left in them.
    package func close() {
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

    /// Removes a file that is completely loaded; this process's own file is emptied instead and used again.
    private func retire(_ file: SpoolFile, _ box: Box) {
        guard file === box.own else {
            file.remove()
            forget(file, box)
            return
        }
        do {
            try file.cut()
        } catch {
            logger.warning("The tracking spool \(file.path) cannot be truncated: \(error)")
        }
    }

    private func forget(_ file: SpoolFile, _ box: Box) {
        if box.own === file { box.own = nil }
        box.orphans.removeAll { $0 === file }
    }
}

extension TrackingSpool {
    /// The content of the spool at one moment.
    package struct Mark: Sendable {
        /// The last position of each source.
        let sources: [UUID: Int64]

        /// Whether it includes a record.
        package func includes(_ head: Head) -> Bool {
            sources[head.source].map { head.record.position <= $0 } ?? false
        }
    }
}

/// The hits in a folder of spools whose process is gone.
package struct SpoolBacklog: Sendable, Hashable {
    /// Files with hits not loaded, including those that cannot be.
    package var files: Int
    /// The bytes of these hits, as far as known.
    package var bytes: Int64

    package init(files: Int = 0, bytes: Int64 = 0) {
        self.files = files
        self.bytes = bytes
    }
}

/// An error of a tracking spool.
package struct SpoolError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The folder or a file in it cannot be written.
        case notWritable
        /// The limit is reached.
        case full
    }

    /// What kind of failure it is.
    package let code: Code
    /// What happened, to which thing, why, and what to do.
    package let description: String
}
