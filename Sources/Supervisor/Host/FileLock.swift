import SystemPackage

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An exclusive `flock` on a file, held as long as this object lives.
///
/// A lock of this kind belongs to the open file and ends with the process, however that ends: it is proof of life, which a
/// process id in a file is not.
final class FileLock: Sendable {
    /// The locked file, open for reading and, if it was created, for writing.
    let descriptor: FileDescriptor

    private init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        try? descriptor.close()
    }

    /// Gives the lock up at once, whoever still has this object.
    func release() {
        flock(descriptor.rawValue, LOCK_UN)
    }

    /// Locks a file without waiting; nil if another process holds it.
    ///
    /// - Throws: `Errno` when the file cannot be opened or locked at all.
    static func acquire(_ path: FilePath, create: Bool) throws -> FileLock? {
        let descriptor = try FileDescriptor.open(
            path,
            // A file that is only read can be locked on a disk that has become read-only.
            create ? .readWrite : .readOnly,
            options: create ? [.create, .closeOnExec] : [.closeOnExec],
            permissions: [.ownerReadWrite, .groupRead],
            retryOnInterrupt: true
        )
        let lock = FileLock(descriptor)
        guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 else { return lock }
        let error = Errno(rawValue: errno)
        if error == .wouldBlock || error == .resourceTemporarilyUnavailable { return nil }
        throw error
    }
}
