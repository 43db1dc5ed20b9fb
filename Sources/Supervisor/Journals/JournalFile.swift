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

    /// Why a journal is put aside, as the end of its file's name says.
    enum Reason: String, Sendable, CaseIterable {
        /// It is of another host, child or database.
        case foreign
        /// It is damaged, or of a format that this program does not know.
        case unreadable
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
    func read() throws -> JournalContents {
        guard let data = FileManager.default.contents(atPath: path.string) else { throw Errno.ioError }
        return try JournalContents([UInt8](data))
    }

    /// Removes it when everything in it is in the database.
    func remove() throws {
        try FileManager.default.removeItem(atPath: path.string)
    }

    /// Puts it aside under another name, for people to look at; one that was put aside before stays.
    func putAside(_ reason: Reason) throws {
        let name = "\(path.string).\(reason.rawValue)"
        var place = name
        var number = 1
        while FileManager.default.fileExists(atPath: place) {
            number += 1
            place = "\(name)-\(number)"
        }
        try FileManager.default.moveItem(atPath: path.string, toPath: place)
    }
}
