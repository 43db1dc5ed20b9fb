import OperatingSystem
import PushCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

    /// A journal above this size is cut at the next quiet moment, which is made for it: 32 MiB hold the answers of about
    /// two million messages, and replaying them takes a second.
    static let longSize: Int64 = 32 * 1_024 * 1_024

    private struct State {
        var size: Int64
        /// The size at which a cut is due.
        var cutSize = ChildJournal.longSize
        var isFailed = false
    }

    private let path: String
    private let file: FileDescriptor
    private let header: [UInt8]
    private let state: Mutex<State>

    init(path: String, header: JournalHeader) throws {
        self.path = path
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        self.header = bytes
        do {
            file = try FileDescriptor.open(
                FilePath(path),
                .readWrite,
                options: [.create, .append, .closeOnExec],
                permissions: .ownerReadWrite
            )
            guard try file.tryLock() else {
                throw Failure(description: "the journal \(path) is locked by another process")
            }
            do {
                try file.resize(to: 0)
                try file.writeAll(bytes)
            } catch {
                // Nothing was claimed: a journal without its header would only be a riddle.
                unlink(path)
                try? file.close()
                throw error
            }
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(
                description: "the journal \(path) cannot be written: \(error); check the folder's owner and free space"
            )
        }
        state = Mutex(State(size: Int64(bytes.count)))
    }

    /// Appends records, in one write.
    func append(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            guard !state.isFailed else { throw Failure(description: "the journal \(path) has failed before") }
            do {
                try file.writeAll(bytes)
                state.size += Int64(bytes.count)
            } catch {
                // A torn record would hide what follows it.
                state.isFailed = true
                throw Failure(description: "the journal \(path) cannot be written: \(error)")
            }
        }
    }

    var isLong: Bool { state.withLock { $0.size > $0.cutSize } }

    /// The moment was not quiet enough: the next attempt is due when the journal has grown by as much again.
    func postponeCut() {
        state.withLock { $0.cutSize = $0.size + Self.longSize }
    }

    /// Forgets everything; only when all of it is committed to the database.
    func cut() throws {
        try state.withLock { state in
            try file.resize(to: Int64(header.count))
            state.size = Int64(header.count)
            state.cutSize = Self.longSize
        }
    }

    /// Ends the journal of a child that has left nothing unresolved.
    func remove() {
        unlink(path)
        try? file.close()
    }
}
