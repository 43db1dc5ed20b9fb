import Administration
import Foundation
import OperatingSystem
import SystemPackage

/// Locks a folder against a second run while this process lives.
struct FolderLock: Sendable {
    /// Locks the folder. The lock ends with the process, however it ends.
    ///
    /// - Throws: `CommandFailure` if another process holds the lock, or if the folder cannot be written.
    init(folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/lock"
        let file: SystemPackage.FileDescriptor
        do {
            file = try .open(
                FilePath(path),
                .readWrite,
                options: [.create, .closeOnExec],
                permissions: .ownerReadWrite
            )
        } catch {
            throw CommandFailure(.unavailable, "Cannot write \(path): \(error)")
        }
        // The file stays open until the process ends.
        guard (try? file.tryLock()) == true else {
            try? file.close()
            throw CommandFailure(
                .unavailable,
                "Another run is working in \(folder): wait until it ends, or choose another folder with --folder."
            )
        }
    }
}
