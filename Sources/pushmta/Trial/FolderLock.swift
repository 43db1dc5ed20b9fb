import Foundation

/// Keeps a second run out of a folder for as long as this process lives.
struct FolderLock: Sendable {
    /// Takes the folder; the lock ends with the process, however it ends.
    ///
    /// - Throws: `CommandFailure` if another process has it, or if the folder cannot be written.
    init(folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/lock"
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.unavailable, "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandFailure(
                .unavailable,
                "Another run works in \(folder): wait for its end, or choose another folder with --folder."
            )
        }
    }
}
