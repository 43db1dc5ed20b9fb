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
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw Errno(rawValue: errno) }
            return false
        }
        return FileManager.default.fileExists(atPath: path.string)
    }

    private static func isOld(_ path: FilePath) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path.string)
        guard let changed = attributes?[.modificationDate] as? Date else { return false }
        return Date().timeIntervalSince(changed) > makingTime
    }
}
