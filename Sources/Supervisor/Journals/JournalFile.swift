import PushCore
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A dead child's journal, locked by us: proof that nobody writes it any more.
struct JournalFile: Sendable {
    /// What became of the attempt to take a journal.
    enum Attempt: Sendable {
        /// There is no such file: the child never got so far, or has removed it at an orderly end.
        case missing
        /// Its child holds the lock, so it is alive.
        case alive
        case taken(JournalFile)
    }

    let path: FilePath
    private let lock: FileLock

    /// Takes a journal if its child is dead.
    static func take(_ path: FilePath) throws -> Attempt {
        do {
            guard let lock = try FileLock.acquire(path, create: false) else { return .alive }
            return .taken(JournalFile(path: path, lock: lock))
        } catch Errno.noSuchFileOrDirectory {
            return .missing
        }
    }

    /// Reads all of it.
    ///
    /// - Throws: `JournalError` when it is no journal that this program can read. One that is shorter than its header counts
    ///   as such too: a child writes the header before anything else, so something was lost.
    func read() throws -> JournalSummary {
        guard let data = FileManager.default.contents(atPath: path.string) else { throw Errno.ioError }
        return try Self.summary(of: [UInt8](data))
    }

    private static func summary(of bytes: [UInt8]) throws -> JournalSummary {
        var decoder = try JournalDecoder(bytes)
        var summary = JournalSummary()
        while let record = decoder.next() { summary.add(record) }
        if decoder.isDamaged { throw JournalError(code: .damaged(offset: decoder.validLength)) }
        return summary
    }

    /// Removes it when everything in it is in the database.
    func remove() throws {
        try FileManager.default.removeItem(atPath: path.string)
    }

    /// Puts it aside under another name, for people to look at.
    func putAside() throws {
        try FileManager.default.moveItem(atPath: path.string, toPath: path.string + ".unreadable")
    }
}
