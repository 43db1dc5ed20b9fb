import Foundation
import OperatingSystem
import PushCore
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One file of a tracking spool: records are appended at the end and read from the beginning.
///
/// Its `flock` proves that its process is alive; a process that gets the lock may load what is left. Not thread-safe:
/// the spool guards it.
final class SpoolFile {
    let path: FilePath
    let header: TrackingSpoolHeader
    private let file: FileDescriptor
    /// The offset of the first record not loaded.
    private var offset = Int64(TrackingSpoolHeader.length)
    /// The offset at which the next record is appended.
    private(set) var size: Int64
    /// Records read but not taken yet, each with its length in the file.
    private var read: [(record: TrackingSpoolRecord, length: Int)] = []
    private var taken = 0

    /// The bytes to read at once: some thousand hits.
    private static let pieceSize = 1 << 20
    /// The suffix of a file while it is being created.
    static let newSuffix = ".new"

    /// Whether every record was taken.
    var isEmpty: Bool { offset >= size }

    /// The bytes of the records not taken.
    var left: Int64 { max(0, size &- offset) }

    init(path: FilePath, header: TrackingSpoolHeader, file: FileDescriptor, size: Int64) {
        self.path = path
        self.header = header
        self.file = file
        self.size = size
    }

    /// Creates a file.
    ///
    /// It gets its final name after it is locked and has its header. So an incomplete file never has that name, and is
    /// never taken for the file of a process that is gone.
    static func make(_ path: FilePath, header: TrackingSpoolHeader) throws -> SpoolFile {
        let newPath = path.string + newSuffix
        let file = try FileDescriptor.open(
            FilePath(newPath),
            .readWrite,
            options: [.create, .truncate, .closeOnExec],
            permissions: .ownerReadWrite
        )
        do {
            guard try file.tryLock() else { throw Errno.wouldBlock }
            let made = SpoolFile(path: path, header: header, file: file, size: Int64(TrackingSpoolHeader.length))
            try file.writeAll(toAbsoluteOffset: 0, header.bytes)
            try made.sync()
            guard rename(newPath, path.string) == 0 else { throw Errno(rawValue: errno) }
            try syncFolder(of: path)
            return made
        } catch {
            unlink(newPath)
            try? file.close()
            throw error
        }
    }

    /// Appends a record and waits until it is on disk.
    func append(_ bytes: [UInt8]) throws {
        do {
            try file.writeAll(toAbsoluteOffset: size, bytes)
            try sync()
            size += Int64(bytes.count)
        } catch {
            // The partial record must not precede the next one.
            try? file.resize(to: size)
            throw error
        }
    }

    /// The next record not loaded; nil at the end. Throws ``Damage`` for bytes that are not a record.
    func next() throws -> TrackingSpoolRecord? {
        if taken < read.count { return read[taken].record }
        read = []
        taken = 0
        try readPiece()
        return read.first?.record
    }

    /// Marks the next record as loaded.
    func take() {
        guard taken < read.count else { return }
        offset += Int64(read[taken].length)
        taken += 1
    }

    /// Removes all records after all were loaded.
    func cut() throws {
        try file.resize(to: Int64(TrackingSpoolHeader.length))
        offset = Int64(TrackingSpoolHeader.length)
        size = offset
        read = []
        taken = 0
    }

    /// Removes a file whose records were all loaded.
    func remove() {
        unlink(path.string)
        try? file.close()
    }

    /// Releases the file, so that another process may load it.
    func close() {
        try? file.close()
    }

    /// Puts a damaged file aside for an operator to examine.
    func setAside() {
        rename(path.string, path.string + TrackingSpool.damagedSuffix)
        try? file.close()
    }

    private func readPiece() throws {
        var count = Self.pieceSize
        while offset < size, read.isEmpty {
            let bytes = try Self.read(file, from: offset, count: Int(min(Int64(count), size - offset)))
            var decoder = TrackingSpoolDecoder(bytes)
            var start = 0
            reading: while true {
                switch decoder.next() {
                case .record(let record):
                    read.append((record, decoder.offset - start))
                    start = decoder.offset
                case .end(let missing):
                    if missing > 0, offset + Int64(bytes.count) >= size, read.isEmpty {
                        // The process died while writing: this record was never acknowledged.
                        size = offset
                    }
                    count = bytes.count + missing
                    break reading
                case .damaged:
                    if read.isEmpty { throw Damage() }
                    break reading
                }
            }
        }
    }

    /// The file contains bytes that are not a record.
    struct Damage: Error {}

    private func sync() throws {
        #if canImport(Darwin)
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        #else
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        #endif
    }

    /// Syncs the folder: without its name on disk, a file would be lost.
    private static func syncFolder(of path: FilePath) throws {
        let folder = try FileDescriptor.open(path.removingLastComponent(), .readOnly, options: [.closeOnExec])
        let result = fsync(folder.rawValue)
        let problem = errno
        try folder.close()
        guard result == 0 else { throw Errno(rawValue: problem) }
    }

    static func read(_ file: FileDescriptor, from offset: Int64, count: Int) throws -> [UInt8] {
        let handle = FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false)
        try handle.seek(toOffset: UInt64(clamping: offset))
        return [UInt8](try handle.read(upToCount: count) ?? Data())
    }
}

extension SpoolFile {
    /// The result of an attempt to take over a file.
    enum Adoption {
        /// Its process is gone, and this process owns it now.
        case adopted(SpoolFile)
        /// Its process is alive, or another process took it first.
        case held
        /// It was empty and has been removed.
        case removed
        /// Its header is unknown to this version; it was put aside under this name.
        case unreadable(String)
    }

    /// An empty file may still be in creation, by an older version; that takes less than a minute.
    private static let makingTime: TimeInterval = 60

    /// Takes over the file of a process that is gone.
    static func adopt(_ path: FilePath) throws -> Adoption {
        let file = try FileDescriptor.open(path, .readWrite, options: [.closeOnExec])
        do {
            guard try lock(file, path) else {
                try file.close()
                return .held
            }
            let bytes = try read(file, from: 0, count: TrackingSpoolHeader.length)
            let size = try file.seek(offset: 0, from: .end)
            if let header = TrackingSpoolHeader(bytes) {
                return .adopted(SpoolFile(path: path, header: header, file: file, size: size))
            }
            defer { try? file.close() }
            if size > 0 {
                let aside = path.string + TrackingSpool.unreadableSuffix
                guard rename(path.string, aside) == 0 else { throw Errno(rawValue: errno) }
                return .unreadable(aside)
            }
            guard isOld(path) else { return .held }
            guard unlink(path.string) == 0 else { throw Errno(rawValue: errno) }
            return .removed
        } catch {
            try? file.close()
            throw error
        }
    }

    /// Removes a file whose process ended while creating it: nothing was stored in it.
    static func removeUnfinished(_ path: FilePath) throws {
        let file = try FileDescriptor.open(path, .readWrite, options: [.closeOnExec])
        defer { try? file.close() }
        guard isOld(path), try lock(file, path) else { return }
        unlink(path.string)
    }

    /// Whether this process got the lock and the file still exists: its previous owner may have loaded and removed it.
    private static func lock(_ file: FileDescriptor, _ path: FilePath) throws -> Bool {
        try file.tryLock() && FileManager.default.fileExists(atPath: path.string)
    }

    private static func isOld(_ path: FilePath) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path.string)
        guard let changed = attributes?[.modificationDate] as? Date else { return false }
        return Date().timeIntervalSince(changed) > makingTime
    }
}
