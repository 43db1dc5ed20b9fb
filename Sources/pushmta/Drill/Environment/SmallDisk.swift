import Foundation
import SystemPackage

/// A file system in memory with a fixed size, mounted on a folder, so that it can be full.
struct SmallDisk: Sendable {
    /// What is written at a time while it is filled up: much while much is free, and pages at last.
    private static let steps = [1 << 20, 4096]

    /// The folder that it is mounted on.
    let folder: String
    /// How much it holds.
    let megabytes: Int
    /// Whose it is; the caller's if nobody is named.
    let owner: SystemUser?

    private var filler: FilePath { FilePath(folder + "/filler") }

    /// Mounts it, empty; one that an earlier run left is unmounted first.
    ///
    /// - Throws: `CommandFailure` without the rights for it.
    func mount() async throws {
        guard getuid() == 0 else {
            throw CommandFailure(.unavailable, "File systems are mounted as root only: run this drill as root")
        }
        await unmount()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (user, group) = (owner?.userID ?? getuid(), owner?.groupID ?? getgid())
        try await ToolRun.run(
            try Executables.tool("mount", package: "mount"),
            ["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700,uid=\(user),gid=\(group)", "tmpfs", folder]
        )
    }

    /// Fills it up to the last page.
    func fill() throws {
        let file = try FileDescriptor.open(
            filler,
            .writeOnly,
            options: [.create, .append],
            permissions: [.ownerReadWrite]
        )
        try file.closeAfter {
            for step in Self.steps {
                let zeros = [UInt8](repeating: 0, count: step)
                do {
                    while true { try file.writeAll(zeros) }
                } catch Errno.noSpace {
                    continue
                }
            }
        }
    }

    /// Removes what filled it up.
    func free() {
        try? FileManager.default.removeItem(atPath: filler.string)
    }

    /// The shell command that unmounts it.
    var removalCommand: String { "umount -l '\(folder)'" }

    /// Unmounts it and so removes what was on it; it is no error if it is not mounted. What still uses it, such as a server
    /// that is about to end, does not keep it there.
    func unmount() async {
        guard let tool = try? Executables.tool("umount", package: "mount") else { return }
        _ = try? await ToolRun.run(tool, ["-l", folder])
    }
}
