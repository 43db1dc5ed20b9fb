import Foundation

/// Files that are whole and on the disk, or not there.
package enum DurableFile {
    /// What became of a file that was to be made.
    package enum Creation: Sendable {
        /// It is there, and on the disk.
        case done
        /// Something of that name was there before; it is as it was.
        case exists
        /// It is not there, and why.
        case failed(String)
    }

    /// Makes a file that only its owner reads, unless something of that name is there: of two at once, one makes it.
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
            return .failed("its disk does not take it")
        }
        guard syncFolder(of: path) else {
            unlink(path)
            return .failed("its folder cannot be brought to the disk")
        }
        return .done
    }

    /// Brings the names in a file's folder to the disk: a file that was renamed has its old name after a power cut otherwise.
    package static func syncFolder(of path: String) -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Some file systems cannot do that for folders, and say so.
        return fsync(descriptor) == 0 || errno == EINVAL
    }
}
