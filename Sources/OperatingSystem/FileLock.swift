import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An exclusive `flock` on a file, held as long as this object lives.
///
/// A lock of this kind belongs to the open file and ends with the process, however that ends: it is proof of life, which a
/// process id in a file is not.
public final class FileLock: Sendable {
    /// The locked file, open for reading and, if it was created, for writing.
    public let descriptor: FileDescriptor

    private init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        try? descriptor.close()
    }

    /// Gives the lock up at once, whoever still has this object.
    public func release() {
        flock(descriptor.rawValue, LOCK_UN)
    }

    /// Locks a file or a folder without waiting; nil if another process holds it.
    ///
    /// - Throws: `Errno` when it cannot be opened or locked at all.
    public static func acquire(_ path: FilePath, create: Bool) throws -> FileLock? {
        while true {
            guard let lock = try attempt(path, create: create) else { return nil }
            // Its owner may have put another file in its place since it was opened: that one's lock is the one that says something.
            if try lock.isOf(path) { return lock }
        }
    }

    private static func attempt(_ path: FilePath, create: Bool) throws -> FileLock? {
        let descriptor = try FileDescriptor.open(
            path,
            // A file that is only read can be locked on a disk that has become read-only.
            create ? .readWrite : .readOnly,
            options: create ? [.create, .closeOnExec] : [.closeOnExec],
            permissions: [.ownerReadWrite, .groupRead],
            retryOnInterrupt: true
        )
        // From here on the object closes it.
        let lock = FileLock(descriptor)
        return try descriptor.tryLock() ? lock : nil
    }

    /// Whether the path names the locked file still.
    private func isOf(_ path: FilePath) throws -> Bool {
        var own = stat()
        var named = stat()
        guard fstat(descriptor.rawValue, &own) == 0 else { throw Errno(rawValue: errno) }
        guard stat(path.string, &named) == 0 else {
            // It was removed: whoever opens it again is told so.
            guard errno == ENOENT else { throw Errno(rawValue: errno) }
            return false
        }
        return own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }
}

extension FileDescriptor {
    /// Takes a `flock` on an open file without waiting; false if another process holds one that excludes it.
    ///
    /// The lock ends when the last descriptor of this opening is closed.
    ///
    /// - Parameter shared: whether others may have it at the same time, if they take it as shared, too.
    /// - Throws: `Errno` when the file cannot be locked at all.
    public func tryLock(shared: Bool = false) throws(Errno) -> Bool {
        while flock(rawValue, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let error = Errno(rawValue: errno)
            if error == .wouldBlock || error == .resourceTemporarilyUnavailable { return false }
            guard error == .interrupted else { throw error }
        }
        return true
    }
}
