import Foundation

/// Files that are either complete and on disk, or absent.
package enum DurableFile {
    /// The result of creating a file.
    package enum Creation: Sendable {
        /// The file exists and is on disk.
        case done
        /// A file of that name already existed and was left unchanged.
        case exists
        /// The file was not created; holds the reason.
        case failed(String)
    }

    /// Creates a file that only its owner can read, unless one of that name exists. Of two concurrent calls, one
    /// creates it.
    package static func create(_ path: String, _ text: String) -> Creation {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            return errno == EEXIST ? .exists : .failed(String(cString: strerror(errno)))
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(text.utf8))
            try file.synchronize()
            try file.close()
        } catch {
            unlink(path)
            return .failed("it cannot be flushed to disk")
        }
        guard syncFolder(of: path) else {
            unlink(path)
            return .failed("its folder cannot be flushed to disk")
        }
        return .done
    }

    /// Flushes the folder of a file to disk. Without this, a renamed file can have its old name again after a power
    /// cut.
    package static func syncFolder(of path: String) -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Some file systems cannot sync folders, and return EINVAL.
        return fsync(descriptor) == 0 || errno == EINVAL
    }
}
