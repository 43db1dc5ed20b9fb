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

/// The child's journal: an append-only file that tells its supervisor what was on the wire if the child dies.
///
/// The file is locked with `flock` for the life of the process. The lock proves that the process lives: a process that
/// gets the lock may replay the journal. Writes reach the kernel, not the disk, so they survive the process. The
/// dispatch marks cover a lost host.
final class ChildJournal: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The growth at which a journal is cut. 32 MiB hold the answers of about two million messages, or of 600,000 with
    /// FCM's message ids, and take a second to replay.
    static let longSize: Int64 = 32 * 1_024 * 1_024
    /// How many bytes a cut copies at a time, so that it needs little memory.
    private static let pieceSize: Int64 = 256 * 1_024

    private struct State {
        var file: FileDescriptor
        var size: Int64
        /// The bytes that cuts have removed.
        var cutBytes: Int64 = 0
        /// The size at which the next cut is due; the maximum while one is under way.
        var cutSize = ChildJournal.longSize
        var isFailed = false
    }

    private let path: String
    private let header: [UInt8]
    private let state: Mutex<State>
    /// Held during a cut and during the journal's removal; whether the journal was removed.
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
                // Nothing was claimed yet, and a journal without its header would be useless.
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

    /// Opens and locks an empty file that no other process holds.
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
            guard !state.isFailed else { throw Failure(description: "an earlier write to the journal \(path) failed") }
            do {
                try state.file.writeAll(bytes)
                state.size += Int64(bytes.count)
            } catch {
                // A torn record would hide the records after it.
                state.isFailed = true
                throw Failure(description: "the journal \(path) cannot be written: \(error)")
            }
        }
    }

    /// The bytes written so far, including what cuts have removed. The database stores it, to recognize an old copy by
    /// its shorter length.
    var writtenLength: Int64 { state.withLock { $0.cutBytes + $0.size } }

    /// The length up to which to cut the journal now; nil if no cut is due, or if one was already reported.
    func lengthToCut() -> Int64? {
        state.withLock { state in
            guard state.size > state.cutSize else { return nil }
            state.cutSize = .max
            return state.size
        }
    }

    /// Removes the records of other parts than some from the journal's first bytes.
    ///
    /// The remaining records and all that was appended meanwhile go to a new file, which then takes the old one's place
    /// and lock. A reader of the journal finds one or the other, complete.
    ///
    /// - Parameters:
    ///   - length: where the cut ends, in bytes: the end of a record written before the parts were chosen.
    ///   - claims: the parts whose records the database may not have completely.
    /// - Throws: ``Failure`` if the cut fails. The journal is unchanged, and the next cut is due after the same growth.
    func cut(upTo length: Int64, keeping claims: Set<PartToken>) throws {
        try cutting.withLock { isOver in
            guard !isOver else { return }
            do {
                // Opened separately, so that reading does not move the position for appends.
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
            // The cut record's own length counts towards the new size.
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

    /// - Returns: the number of bytes kept.
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

    /// Copies what was appended since, and replaces the old file with the new one.
    private func replace(
        with new: FileDescriptor,
        _ old: FileHandle,
        from length: Int64,
        _ size: Int64,
        _ cutBytes: Int64
    ) throws {
        try state.withLock { state in
            guard !state.isFailed else { throw Failure(description: "an earlier write failed") }
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

    /// Removes the journal of a child that left nothing unresolved.
    func remove() {
        cutting.withLock { isOver in
            isOver = true
            unlink(path)
            state.withLock { try? $0.file.close() }
        }
    }
}
