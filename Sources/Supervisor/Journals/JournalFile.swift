import OperatingSystem
import PushCore
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A dead child's journal. This process holds its lock, which proves that no other writes it.
struct JournalFile: Sendable {
    /// The result of an attempt to take a journal.
    enum Attempt: Sendable {
        /// There is no such file: the child did not get that far, or removed it at an orderly end.
        case missing
        /// Its child holds the lock, so the child is alive.
        case alive
        case taken(JournalFile)
    }

    /// Why a journal is put aside; the reason becomes the suffix of its file name.
    enum Reason: String, Sendable, CaseIterable {
        /// It belongs to another host, child or database.
        case foreign
        /// It is damaged, or has a format that this program does not know.
        case unreadable
        /// It is shorter than what its child had written: an old copy replaced it.
        case older
    }

    let path: FilePath
    private let lock: FileLock

    /// Takes the journal if its child is dead.
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
    /// - Throws: `JournalError` when it is not a journal that this program can read. That includes one shorter than its
    ///   header: a child writes the header first, so something was lost.
    func read() throws -> JournalContents {
        guard let data = FileManager.default.contents(atPath: path.string) else { throw Errno.ioError }
        return try JournalContents([UInt8](data))
    }

    /// Removes it after everything in it has been stored in the database.
    func remove() throws {
        removeCut()
        try FileManager.default.removeItem(atPath: path.string)
    }

    /// Puts it aside under another name for an operator to examine; files put aside before are kept.
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

    /// Removes the beginning of a shorter journal, which a child that died while cutting its journal left behind. It is
    /// not needed.
    private func removeCut() {
        try? FileManager.default.removeItem(atPath: path.string + JournalHeader.cutSuffix)
    }
}

/// The content of a journal.
struct JournalContents: Sendable {
    var header: JournalHeader
    /// The summary of its records, up to the damage if there is any.
    var summary: JournalSummary
    /// Where and why reading ended early; nil for a journal that is complete or merely torn at its end.
    var damage: JournalError?
    /// The bytes that its child had written up to the journal's end, including what cuts have removed.
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
