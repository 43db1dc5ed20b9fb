import Foundation
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
    private var offset: Int64
    /// Where the next record goes.
    private(set) var size: Int64
    /// Records that were read and not taken yet, each with its length in the file.
    private var read: [(record: TrackingSpoolRecord, length: Int)] = []
    private var taken = 0

    /// The bytes read at once: some thousand hits.
    private static let pieceSize = 1 << 20

    /// Whether every record was taken.
    var isEmpty: Bool { offset >= size }

    /// Makes a new file.
    init(creating path: FilePath, header: TrackingSpoolHeader) throws {
        self.path = path
        self.header = header
        file = try FileDescriptor.open(
            path,
            .readWrite,
            options: [.create, .exclusiveCreate, .closeOnExec],
            permissions: .ownerReadWrite
        )
        offset = Int64(TrackingSpoolHeader.length)
        size = offset
        do {
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
            try file.writeAll(toAbsoluteOffset: 0, header.bytes)
            try sync()
        } catch {
            unlink(path.string)
            try? file.close()
            throw error
        }
    }

    /// Opens a file of a process that is gone; nil if its process lives, or if it is no spool.
    init?(adopting path: FilePath) throws {
        self.path = path
        file = try FileDescriptor.open(path, .readWrite, options: [.closeOnExec])
        offset = Int64(TrackingSpoolHeader.length)
        let bytes: [UInt8]
        do {
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
                try file.close()
                return nil
            }
            bytes = try Self.read(file, from: 0, count: TrackingSpoolHeader.length)
            size = try file.seek(offset: 0, from: .end)
        } catch {
            try? file.close()
            throw error
        }
        guard let header = TrackingSpoolHeader(bytes) else {
            try file.close()
            return nil
        }
        self.header = header
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
        rename(path.string, path.string + ".damaged")
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

    private static func read(_ file: FileDescriptor, from offset: Int64, count: Int) throws -> [UInt8] {
        let handle = FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false)
        try handle.seek(toOffset: UInt64(clamping: offset))
        return [UInt8](try handle.read(upToCount: count) ?? Data())
    }
}
