import Foundation
import OperatingSystem
import Synchronization
import SystemPackage

/// The short directory of one private cluster: its data, its socket, its log, and a lock that says it is in use.
///
/// A test process that was killed leaves its cluster running; the lock has gone with it, so the next one clears it away.
final class ClusterDirectory: Sendable {
    /// The directory, which is also the socket directory: a socket's path has at most 107 bytes.
    let path: String
    /// The directory itself serves as the lock file, so there is no moment without one.
    private let lock: FileLock

    private static let parent = "/tmp"
    private static let prefix = "pushmta-test-"
    /// The directories to clear when the process ends.
    private static let live = Mutex<[String]>([])
    private static let clearsAtExit: Void = {
        atexit { ClusterDirectory.live.withLock { $0 }.forEach(ClusterDirectory.clear) }
    }()

    /// Makes the directory for a cluster that runs as the user.
    init(user: String?) throws {
        _ = Self.clearsAtExit
        let name = String(UInt32.random(in: 0 ... .max), radix: 36)
        path = "\(Self.parent)/\(Self.prefix)\(name)"
        // It gets its name once it is locked: a sweep must not find it before.
        let newPath = "\(Self.parent)/pushmta-new-\(name)"
        guard mkdir(newPath, 0o755) == 0 else {
            throw TestSupportError("cannot make \(newPath): \(String(cString: strerror(errno)))")
        }
        guard let lock = try FileLock.acquire(FilePath(newPath), create: false), rename(newPath, path) == 0 else {
            throw TestSupportError("cannot lock \(newPath) and rename it to \(path)")
        }
        self.lock = lock
        if let user, let entry = getpwnam(user) { chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) }
        Self.live.withLock { $0.append(path) }
    }

    /// Stops the cluster and removes the directory.
    func clear() {
        Self.clear(path)
        Self.live.withLock { $0.removeAll { $0 == path } }
    }

    /// Clears what test processes that were killed have left behind.
    static func sweep() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            guard let lock = try? FileLock.acquire(FilePath(path), create: false) else { continue }
            withExtendedLifetime(lock) { clear(path) }
        }
    }

    /// Ends the postmaster at once (SIGQUIT: its data is not needed any more) and removes the directory.
    private static func clear(_ path: String) {
        let file = (try? String(contentsOfFile: "\(path)/data/postmaster.pid", encoding: .utf8)) ?? ""
        let lines = file.split(separator: "\n")
        // The second line is the data directory: proof that the pid file speaks of this cluster.
        if lines.count > 1, lines[1] == "\(path)/data", let pid = pid_t(lines[0]), pid > 1, kill(pid, SIGQUIT) == 0 {
            var waits = 0
            while kill(pid, 0) == 0, waits < 1_000 {
                usleep(5_000)
                waits += 1
            }
        }
        try? FileManager.default.removeItem(atPath: path)
    }
}
