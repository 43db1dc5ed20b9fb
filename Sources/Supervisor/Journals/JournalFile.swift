import OperatingSystem
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
        /// It says less than its child had written: an old copy was put back in its place.
        case older
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
        removeCut()
        try FileManager.default.removeItem(atPath: path.string)
    }

    /// Puts it aside under another name, for people to look at; one that was put aside before stays.
    func putAside(_ reason: Reason) throws {
        removeCut()
        let name = "\(path.string).\(reason.rawValue)"
        var place = name
        var number = 1
        while FileManager.default.fileExists(atPath: place) {
            number += 1
            place = "\(name)-\(number)"
        }
        try FileManager.default.moveItem(atPath: path.string, toPath: place)
    }

    /// A child that died in a cut has left the beginning of the shorter journal, which nobody needs.
    private func removeCut() {
        try? FileManager.default.removeItem(atPath: path.string + JournalHeader.cutSuffix)
    }
}

/// A journal as it was read.
struct JournalContents: Sendable {
    var header: JournalHeader
    /// What the records say, up to the damage if there is one.
    var summary: JournalSummary
    /// Where and why reading ended early; nil for a journal that is whole or merely torn at its end.
    var damage: JournalError?
    /// How much its child had written up to its end, with what cuts have taken out.
    var writtenLength: Int64

    init(_ bytes: [UInt8]) throws {
        var decoder = try JournalDecoder(bytes)
        header = decoder.header
        summary = JournalSummary()
        while let record = decoder.next() { summary.add(record) }
        writtenLength = decoder.writtenLength
        if decoder.isDamaged { damage = JournalError(code: .damaged(offset: decoder.validLength)) }
    }
}

/// Whose journals this supervisor may replay: those that children of this folder wrote for this database.
///
/// A folder may be copied to another machine, restored from a backup, or given to a supervisor of another database; what
/// its journals say would then be stored as the outcomes of messages that have nothing to do with them.
struct JournalIdentity: Sendable, Equatable {
    /// The id of the folder.
    var hostID: UUID?
    /// The running system's boot.
    var bootID: UUID?
    /// The identity of the database.
    var installationID: UUID?

    /// Judges a header by the name of its file; what either side does not know is not held against it.
    func judge(_ header: JournalHeader, ofChild child: Int64) -> JournalDecision {
        if header.childID != child {
            return .foreign("its header names child \(header.childID)")
        }
        if let hostID, header.hostID != hostID {
            return .foreign("it is of host \(header.hostID.uuidString.lowercased())")
        }
        if let installationID, let other = header.installationID, other != installationID {
            return .foreign("it is of the database with the installation id \(other.uuidString.lowercased())")
        }
        if let bootID, let other = header.bootID, other != bootID { return .ofEarlierBoot }
        return .ours
    }
}

/// What may be done with a journal, as its header says.
enum JournalDecision: Sendable, Equatable {
    /// It is complete but for a record that was being written when its child died.
    case ours
    /// The machine went down since: what is in it is true, but its last records may be lost.
    case ofEarlierBoot
    /// It is not ours to replay, for the reason given.
    case foreign(String)
}

/// A journal is there and the system does not let it be opened, locked or read: the disk is broken, or the rights are wrong.
///
/// Unlike trouble with the database this may last for ever, so the parts of its child are left to their leases.
struct JournalAccessError: Error, CustomStringConvertible {
    let path: FilePath
    let cause: any Error

    var description: String { "the journal \(path) cannot be read: \(cause)" }

    /// Does something with a journal's file; what is wrong with its content is not of this kind.
    static func wrapping<Result>(_ path: FilePath, _ access: () throws -> Result) throws -> Result {
        do {
            return try access()
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalAccessError(path: path, cause: error)
        }
    }
}
