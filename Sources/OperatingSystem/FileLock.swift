import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An exclusive `flock` on a file, held until this object is deallocated.
///
/// Such a lock belongs to the open file and ends with the process, however that ends. So it proves that the process is
/// alive, unlike a process id in a file.
package final class FileLock: Sendable {
    /// The locked file, open for reading and, if it was created, for writing.
    package let descriptor: FileDescriptor

    private init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        try? descriptor.close()
    }

    /// Releases the lock at once, even if this object is still referenced.
    package func release() {
        flock(descriptor.rawValue, LOCK_UN)
    }

    /// Locks a file or a folder without waiting; nil if another process holds it.
    ///
    /// - Throws: `Errno` when it cannot be opened or locked.
    package static func acquire(_ path: FilePath, create: Bool) throws -> FileLock? {
        while true {
            guard let lock = try attempt(path, create: create) else { return nil }
            // Its owner may have replaced the file after it was opened; only a lock on the new file counts.
            if try lock.isOf(path) { return lock }
        }
    }

    private static func attempt(_ path: FilePath, create: Bool) throws -> FileLock? {
        let descriptor = try FileDescriptor.open(
            path,
            // A file opened for reading can be locked on a read-only disk.
            create ? .readWrite : .readOnly,
            options: create ? [.create, .closeOnExec] : [.closeOnExec],
            permissions: [.ownerReadWrite, .groupRead],
            retryOnInterrupt: true
        )
        // The object closes it from here on.
        let lock = FileLock(descriptor)
        return try descriptor.tryLock() ? lock : nil
    }

    /// Whether the path still names the locked file.
    private func isOf(_ path: FilePath) throws -> Bool {
        var own = stat()
        var named = stat()
        guard fstat(descriptor.rawValue, &own) == 0 else { throw Errno(rawValue: errno) }
        guard stat(path.string, &named) == 0 else {
            // It was removed; opening it again reports that.
            guard errno == ENOENT else { throw Errno(rawValue: errno) }
            return false
        }
        return own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }
}

extension FileDescriptor {
    /// Takes a `flock` on an open file without waiting; false if another process holds a conflicting lock.
    ///
    /// The lock ends when the last descriptor of this open file is closed.
    ///
    /// - Parameter shared: whether other shared locks may exist in parallel.
    /// - Throws: `Errno` when the file cannot be locked at all.
    package func tryLock(shared: Bool = false) throws(Errno) -> Bool {
        while flock(rawValue, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let error = Errno(rawValue: errno)
            if error == .wouldBlock || error == .resourceTemporarilyUnavailable { return false }
            guard error == .interrupted else { throw error }
        }
        return true
    }
}
