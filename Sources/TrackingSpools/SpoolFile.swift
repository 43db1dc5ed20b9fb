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

/// One file of a tracking spool: records are appended at its end and taken from its beginning.
///
/// Its `flock` is the proof that its process lives; whoever gets the lock may load what is left in it. Not thread-safe: the
/// spool guards it.
final class SpoolFile {
    let path: FilePath
    let header: TrackingSpoolHeader
    private let file: FileDescriptor
    /// Where the next record that is not loaded begins.
    private var offset = Int64(TrackingSpoolHeader.length)
    /// Where the next record goes.
    private(set) var size: Int64
    /// Records that were read and not taken yet, each with its length in the file.
    private var read: [(record: TrackingSpoolRecord, length: Int)] = []
    private var taken = 0

    /// The bytes read at once: some thousand hits.
    private static let pieceSize = 1 << 20
    /// What a file that is being made is called.
    static let newSuffix = ".new"

    /// Whether every record was taken.
    var isEmpty: Bool { offset >= size }

    /// Bytes of records that were not taken.
    var left: Int64 { max(0, size &- offset) }

    init(path: FilePath, header: TrackingSpoolHeader, file: FileDescriptor, size: Int64) {
        self.path = path
        self.header = header
        self.file = file
        self.size = size
    }

    /// Makes a new file.
    ///
    /// It gets its name when it is locked and has its header: under the name nobody ever sees a file that is not whole, and takes
    /// it for one whose process is gone.
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

    /// Appends a record and waits until the disk has it.
    func append(_ bytes: [UInt8]) throws {
        do {
            try file.writeAll(toAbsoluteOffset: size, bytes)
            try sync()
            size += Int64(bytes.count)
        } catch {
            // What was written of it must not stand before the next one.
            try? file.resize(to: size)
            throw error
        }
    }

    /// The next record that is not loaded; nil at the end. Throws `damaged` for what is no record.
    func next() throws -> TrackingSpoolRecord? {
        if taken < read.count { return read[taken].record }
        read = []
        taken = 0
        try readPiece()
        return read.first?.record
    }

    /// The next record is loaded.
    func take() {
        guard taken < read.count else { return }
        offset += Int64(read[taken].length)
        taken += 1
    }

    /// Forgets all records, when all are loaded.
    func cut() throws {
        try file.resize(to: Int64(TrackingSpoolHeader.length))
        offset = Int64(TrackingSpoolHeader.length)
        size = offset
        read = []
        taken = 0
    }

    /// Ends a file whose records are all loaded.
    func remove() {
        unlink(path.string)
        try? file.close()
    }

    /// Lets go of the file, so that another process may load it.
    func close() {
        try? file.close()
    }

    /// Puts a damaged file aside, for a person to look at.
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
                        // The process died while it wrote: nobody was told that this record is stored.
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

    /// What is in the file is no record.
    struct Damage: Error {}

    private func sync() throws {
        #if canImport(Darwin)
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        #else
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        #endif
    }

    /// A file whose name is not on the disk is as good as none.
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
    /// What became of the attempt to take over a file.
    enum Adoption {
        /// Its process is gone, and it is this one's now.
        case adopted(SpoolFile)
        /// Its process lives, or somebody else was faster.
        case held
        /// It had nothing in it and is gone.
        case removed
        /// It begins with no header that this version knows; it was put aside under this name.
        case unreadable(String)
    }

    /// A file without content may be one that is being made, by an older version; that takes no minute.
    private static let makingTime: TimeInterval = 60

    /// Takes over a file of a process that is gone.
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

    /// Removes what a process left that ended while it made a file: nothing was ever stored in it.
    static func removeUnfinished(_ path: FilePath) throws {
        let file = try FileDescriptor.open(path, .readWrite, options: [.closeOnExec])
        defer { try? file.close() }
        guard isOld(path), try lock(file, path) else { return }
        unlink(path.string)
    }

    /// Whether this process has the lock of a file, which still has its name: who had it before may have loaded and removed it.
    private static func lock(_ file: FileDescriptor, _ path: FilePath) throws -> Bool {
        try file.tryLock() && FileManager.default.fileExists(atPath: path.string)
    }

    private static func isOld(_ path: FilePath) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path.string)
        guard let changed = attributes?[.modificationDate] as? Date else { return false }
        return Date().timeIntervalSince(changed) > makingTime
    }
}
