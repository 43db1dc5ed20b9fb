import OperatingSystem
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

/// The folder of one host: its id, the journals of its children, and the lock that makes one supervisor its owner.
///
/// The host id is a UUID in a file, not the machine's name: machines are renamed and cloned, and one can run two hosts.
/// The folder with the journals *is* the host, because only its journals tell what was sent from it.
struct HostFolder: Sendable {
    let path: FilePath
    /// The host id, as 36 lower-case characters.
    var hostID: String { identity.withLock { $0 } }
    private let lock: FileLock
    private let identity: HostIdentity

    static let lockFile = "supervisor.lock"
    static let hostIDFile = "host-id"

    /// Creates the folder if needed, takes its lock and reads its host id. A new folder gets a new id.
    ///
    /// - Parameter owner: the host name and process id that a second supervisor is shown.
    /// - Throws: ``SupervisorError``.
    static func open(_ path: FilePath, owner: String) throws -> HostFolder {
        do {
            try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
            let lockPath = path.appending(lockFile)
            guard let lock = try acquire(lockPath) else { throw inUse(path, by: text(of: lockPath)) }
            try lock.descriptor.resize(to: 0, retryOnInterrupt: true)
            try lock.descriptor.writeAll(toAbsoluteOffset: 0, "\(owner)\n".utf8)
            return HostFolder(path: path, lock: lock, identity: HostIdentity(try hostID(in: path)))
        } catch let error as SupervisorError {
            throw error
        } catch {
            throw notUsable(path, error)
        }
    }

    /// Gives the folder a new host id, because it is a copy of the folder of another, running supervisor. The journals
    /// in it belong to that supervisor.
    func becomeNewHost() throws {
        let id = UUID().uuidString.lowercased()
        do {
            try Self.write(id, in: path)
        } catch {
            throw Self.notUsable(path, error)
        }
        identity.withLock { $0 = id }
    }

    private static func write(_ id: String, in path: FilePath) throws {
        let file = path.appending(hostIDFile)
        try Data("\(id)\n".utf8).write(to: URL(filePath: file.string), options: .atomic)
    }

    /// Releases the folder for another supervisor.
    func release() {
        lock.release()
    }

    /// Takes the lock, and tries again once after a moment: a process that checks the lock holds it briefly.
    private static func acquire(_ path: FilePath) throws -> FileLock? {
        if let lock = try FileLock.acquire(path, create: true) { return lock }
        usleep(50_000)
        return try FileLock.acquire(path, create: true)
    }

    /// The process id of the supervisor that currently owns a folder; nil if there is none.
    ///
    /// The lock is the proof. The file's text counts only while the lock is held: it stays when a supervisor ends, and
    /// its process id may be reused.
    static func owner(of path: FilePath) throws -> Int32? {
        let file = path.appending(lockFile)
        do {
            if try FileLock.acquire(file, create: false) != nil { return nil }
        } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
            return nil
        } catch {
            throw notUsable(path, error)
        }
        return text(of: file).split(separator: " ").last.flatMap { Int32($0) }
    }

    private static func hostID(in path: FilePath) throws -> String {
        let file = path.appending(hostIDFile)
        let known = text(of: file)
        if let id = UUID(uuidString: known) { return id.uuidString.lowercased() }
        guard known.isEmpty else {
            throw SupervisorError(
                .folderNotUsable,
                "The host id in \(file) is not a UUID, so this host cannot be identified. Restore the file's old content, "
                    + "or remove the file to get a new id; journals of the old id are then put aside."
            )
        }
        let id = UUID().uuidString.lowercased()
        try write(id, in: path)
        return id
    }

    private static func text(of file: FilePath) -> String {
        guard let data = FileManager.default.contents(atPath: file.string) else { return "" }
        // Both files have one short line; anything else is ignored.
        let lines = String(decoding: data.prefix(200), as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.first.map(String.init) ?? ""
    }

    private static func inUse(_ path: FilePath, by owner: String) -> SupervisorError {
        SupervisorError(
            .folderInUse,
            "Another running supervisor\(owner.isEmpty ? "" : " (\(owner))") uses the folder \(path). "
                + "Stop that one, or give this one a folder of its own (mta.workingPath)."
        )
    }

    private static func notUsable(_ path: FilePath, _ error: any Error) -> SupervisorError {
        SupervisorError(
            .folderNotUsable,
            "The folder \(path) for the host id and journals cannot be used: \(error). "
                + "Make it writable for the supervisor's user, or choose another folder (mta.workingPath)."
        )
    }
}

/// The host id of a folder. It changes at most once, at the start.
final class HostIdentity: Sendable {
    private let id: Mutex<String>

    init(_ id: String) {
        self.id = Mutex(id)
    }

    func withLock<Result: Sendable>(_ body: (inout String) -> Result) -> Result { id.withLock { body(&$0) } }
}

extension HostFolder {
    private static let journalPrefix = "child-"
    private static let journalSuffix = ".journal"

    /// The journal of a child, named after the id of its row in `mta_child`. These ids are never reused.
    func journal(ofChild id: Int64) -> FilePath {
        path.appending("\(Self.journalPrefix)\(id)\(Self.journalSuffix)")
    }

    /// The ids of the children whose journals are in the folder, in ascending order.
    func childrenWithJournals() throws -> [Int64] {
        try FileManager.default.contentsOfDirectory(atPath: path.string).compactMap { name in
            guard name.hasPrefix(Self.journalPrefix), name.hasSuffix(Self.journalSuffix) else { return nil }
            return Int64(name.dropFirst(Self.journalPrefix.count).dropLast(Self.journalSuffix.count))
        }.sorted()
    }

    /// The names of the journals put aside and not yet removed by an operator.
    func journalsPutAside() throws -> [String] {
        let marks = JournalFile.Reason.allCases.map { "\(Self.journalSuffix).\($0.rawValue)" }
        return try FileManager.default.contentsOfDirectory(atPath: path.string)
            .filter { name in name.hasPrefix(Self.journalPrefix) && marks.contains { name.contains($0) } }
            .sorted()
    }
}
