import Foundation
import OperatingSystem
import Synchronization
import SystemPackage

/// The directory of one private cluster, with a short path: data, socket, log, and a lock that shows that it is in use.
///
/// A killed test process leaves its cluster running but releases the lock, so the next test process removes the
/// cluster.
final class ClusterDirectory: Sendable {
    /// The directory, which also holds the socket: the path of a socket has at most 107 bytes.
    let path: String
    /// The directory itself is the lock file, so it is never without a lock.
    private let lock: FileLock

    private static let parent = "/tmp"
    private static let prefix = "pushmta-test-"
    /// The directories to remove when the process ends.
    private static let live = Mutex<[String]>([])
    private static let clearsAtExit: Void = {
        atexit { ClusterDirectory.live.withLock { $0 }.forEach(ClusterDirectory.clear) }
    }()

    /// Creates the directory for a cluster that runs as the user.
    init(user: String?) throws {
        _ = Self.clearsAtExit
        let name = String(UInt32.random(in: 0 ... .max), radix: 36)
        path = "\(Self.parent)/\(Self.prefix)\(name)"
        // It gets its name only after it is locked: a sweep must not find it unlocked.
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

    /// Removes the clusters that killed test processes have left behind.
    static func sweep() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            guard let lock = try? FileLock.acquire(FilePath(path), create: false) else { continue }
            withExtendedLifetime(lock) { clear(path) }
        }
    }

    /// Stops the postmaster at once (SIGQUIT, as its data is no longer needed) and removes the directory.
    private static func clear(_ path: String) {
        let file = (try? String(contentsOfFile: "\(path)/data/postmaster.pid", encoding: .utf8)) ?? ""
        let lines = file.split(separator: "\n")
        // The second line is the data directory, which proves that the pid file belongs to this cluster.
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
