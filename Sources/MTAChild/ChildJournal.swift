import Foundation
import OperatingSystem
import PushCore
import Store
import Synchronization
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The child's journal: an append-only file that tells its supervisor, should the child die, what was on the wire.
///
/// It is locked with `flock` for the life of the process, which is the proof of life: whoever gets the lock may replay it.
/// Writes reach the kernel, not the disk: they survive the process, and a lost host is covered by the dispatch marks.
final class ChildJournal: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A journal is cut when it has grown by this: 32 MiB hold the answers of about two million messages, or of 600,000 with
    /// message ids of FCM's, and replaying them takes a second.
    static let longSize: Int64 = 32 * 1_024 * 1_024
    /// A cut reads and writes so much at once, so that it costs no memory to speak of.
    private static let pieceSize: Int64 = 256 * 1_024

    private struct State {
        var file: FileDescriptor
        var size: Int64
        /// What cuts have taken out.
        var cutBytes: Int64 = 0
        /// The size at which a cut is due; never while one is under way.
        var cutSize = ChildJournal.longSize
        var isFailed = false
    }

    private let path: String
    private let header: [UInt8]
    private let state: Mutex<State>
    /// Held for the time of a cut, and by the end of the journal.
    private let cutting = Mutex(false)

    init(path: String, header: JournalHeader) throws {
        self.path = path
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        self.header = bytes
        do {
            let file = try Self.open(path)
            do {
                try file.writeAll(bytes)
            } catch {
                // Nothing was claimed: a journal without its header would only be a riddle.
                unlink(path)
                try? file.close()
                throw error
            }
            state = Mutex(State(file: file, size: Int64(bytes.count)))
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(
                description: "the journal \(path) cannot be written: \(error); check the folder's owner and free space"
            )
        }
    }

    /// Opens an empty file that nobody else has, and locks it.
    private static func open(_ path: String) throws -> FileDescriptor {
        let file = try FileDescriptor.open(
            FilePath(path),
            .readWrite,
            options: [.create, .append, .closeOnExec],
            permissions: .ownerReadWrite
        )
        do {
            guard try file.tryLock() else {
                throw Failure(description: "the journal \(path) is locked by another process")
            }
            try file.resize(to: 0)
            return file
        } catch {
            try? file.close()
            throw error
        }
    }

    /// Appends records, in one write.
    func append(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            guard !state.isFailed else { throw Failure(description: "the journal \(path) has failed before") }
            do {
                try state.file.writeAll(bytes)
                state.size += Int64(bytes.count)
            } catch {
                // A torn record would hide what follows it.
                state.isFailed = true
                throw Failure(description: "the journal \(path) cannot be written: \(error)")
            }
        }
    }

    /// How much was written so far, with what cuts have taken out: what the database is told, as a journal that says less is an old copy.
    var writtenLength: Int64 { state.withLock { $0.cutBytes + $0.size } }

    /// The length at which the journal is to be cut now; nil if it is not, or if that was told before.
    func lengthToCut() -> Int64? {
        state.withLock { state in
            guard state.size > state.cutSize else { return nil }
            state.cutSize = .max
            return state.size
        }
    }

    /// Takes out of the journal what its first bytes say of other parts than some.
    ///
    /// What stays goes to a new file, with all that has been appended meanwhile, and that takes the old one's place and lock: whoever
    /// reads the journal finds the one or the other, whole.
    ///
    /// - Parameters:
    ///   - length: up to where it is cut, in bytes: the end of a record, from before the parts were chosen.
    ///   - claims: the parts of which the database may not have everything.
    /// - Throws: ``Failure`` if that cannot be done. The journal is as it was, and is to be cut when it has grown by as much again.
    func cut(upTo length: Int64, keeping claims: Set<PartToken>) throws {
        try cutting.withLock { isOver in
            guard !isOver else { return }
            do {
                // An opening of its own: what it has read moves no place of what is appended.
                let old = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                defer { try? old.close() }
                try rewrite(old, length, claims)
            } catch {
                unlink(path + JournalHeader.cutSuffix)
                state.withLock { $0.cutSize = $0.size + Self.longSize }
                throw Failure(
                    description: "the journal \(path) cannot be cut: \(error); check the folder's owner and free space"
                )
            }
        }
    }

    private func rewrite(_ old: FileHandle, _ length: Int64, _ claims: Set<PartToken>) throws {
        let new = try Self.open(path + JournalHeader.cutSuffix)
        do {
            try old.seek(toOffset: UInt64(header.count))
            try new.writeAll(header)
            var size = try Int64(header.count) + sift(old, to: new, length, claims)
            // The record's own length is part of what is left.
            var record: [UInt8] = []
            JournalEncoder.appendCut(bytes: 0, to: &record)
            size += Int64(record.count)
            let cutBytes = state.withLock { $0.cutBytes } + length - size
            record = []
            JournalEncoder.appendCut(bytes: cutBytes, to: &record)
            try new.writeAll(record)
            try replace(with: new, old, from: length, size, cutBytes)
        } catch {
            try? new.close()
            throw error
        }
    }

    /// - Returns: how many bytes stay.
    private func sift(
        _ old: FileHandle,
        to new: FileDescriptor,
        _ length: Int64,
        _ claims: Set<PartToken>
    ) throws -> Int64 {
        var sieve = JournalSieve { claims.contains(PartToken(part: $0, token: $1)) }
        var rest = length - Int64(header.count)
        var kept: Int64 = 0
        while rest > 0 {
            let piece = try Self.piece(old, rest)
            rest -= Int64(piece.count)
            let records = try sieve.take(piece)
            try new.writeAll(records)
            kept += Int64(records.count)
        }
        guard sieve.isAtEnd else { throw JournalError(code: .damaged(offset: Int(length))) }
        return kept
    }

    /// Copies what has been appended since, and puts the new file in the old one's place.
    private func replace(
        with new: FileDescriptor,
        _ old: FileHandle,
        from length: Int64,
        _ size: Int64,
        _ cutBytes: Int64
    ) throws {
        try state.withLock { state in
            guard !state.isFailed else { throw Failure(description: "it has failed before") }
            var rest = state.size - length
            while rest > 0 {
                let piece = try Self.piece(old, rest)
                rest -= Int64(piece.count)
                try new.writeAll(piece)
            }
            guard rename(path + JournalHeader.cutSuffix, path) == 0 else { throw Errno(rawValue: errno) }
            try? state.file.close()
            state.file = new
            state.size += size - length
            state.cutBytes = cutBytes
            state.cutSize = state.size + Self.longSize
        }
    }

    private static func piece(_ file: FileHandle, _ rest: Int64) throws -> [UInt8] {
        guard let bytes = try file.read(upToCount: Int(min(rest, pieceSize))), !bytes.isEmpty else {
            throw Errno.ioError
        }
        return [UInt8](bytes)
    }

    /// Ends the journal of a child that has left nothing unresolved.
    func remove() {
        cutting.withLock { isOver in
            isOver = true
            unlink(path)
            state.withLock { try? $0.file.close() }
        }
    }
}
