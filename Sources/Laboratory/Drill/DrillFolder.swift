import Administration
import Foundation

/// The drills' folders, under the temporary folder, which is writable for every user.
enum DrillFolder {
    private static let prefix = "pushmta-drill-"
    /// A file that marks a folder to be kept.
    private static let keptFile = "kept"
    /// A file of shell commands, one a line, that undo the drill's changes to the machine.
    private static let leftoverFile = "leftovers.sh"
    /// The file that the running drill keeps locked.
    private static let lockFile = "lock"

    private static var temporary: String { FileManager.default.temporaryDirectory.standardizedFileURL.path }

    /// Makes an empty folder for a drill of this process, closed to other users, and locks it.
    static func make(_ drill: String, keeps: Bool, in parent: String? = nil) throws -> String {
        let name = "\(parent ?? temporary)/\(prefix)\(getpid())-\(drill)"
        var folder = name
        var number = 1
        // Only a folder made by this call is used: an existing one may belong to another user.
        while mkdir(folder, 0o700) != 0 {
            guard errno == EEXIST else {
                throw CommandFailure(
                    .unavailable,
                    "Cannot make the folder \(folder): \(String(cString: strerror(errno)))"
                )
            }
            number += 1
            folder = "\(name)-\(number)"
        }
        _ = try FolderLock(folder: folder)
        if keeps { _ = FileManager.default.createFile(atPath: folder + "/" + keptFile, contents: nil) }
        return folder
    }

    /// Records a shell command that undoes a change, in case this process is killed.
    static func remember(_ command: String, in folder: String) {
        AppendedFile.append(command + "\n", to: folder + "/" + leftoverFile)
    }

    /// Ends and removes what killed drills have left behind.
    static func clearLeftovers() async {
        for folder in leftovers() { await clear(folder) }
    }

    /// The folders of drills that no longer run.
    ///
    /// Their recorded commands are executed. So folders that another user owns or can write to are ignored.
    static func leftovers(in parent: String? = nil) -> [String] {
        let parent = parent ?? temporary
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        return names.sorted().filter { $0.hasPrefix(prefix) }.compactMap { name in
            let owner = name.dropFirst(prefix.count).prefix { $0.isNumber }
            let folder = parent + "/" + name
            guard let id = Int32(owner), FileOwnership(folder)?.isOwnFolder == true, !isInUse(folder, by: id)
            else { return nil }
            return folder
        }
    }

    /// Whether the folder's drill still runs and so holds the lock. A later process with the same id does not hold it.
    private static func isInUse(_ folder: String, by id: Int32) -> Bool {
        guard FileManager.default.fileExists(atPath: folder + "/" + lockFile) else {
            // The folder is just being made, or an older version made it.
            return id == getpid() || (ProcessRecord(id)?.commandLine.contains("drill") ?? false)
        }
        return (try? FolderLock(folder: folder)) == nil
    }

    /// Whether the process is one of PushMTA's programs working in this folder.
    private static func isOurs(_ process: ProcessRecord, _ folder: String) -> Bool {
        let words = process.commandLine
        let program = words.split(separator: " ").first ?? ""
        return words.contains(folder + "/")
            && (program.hasSuffix("/pushmta") || program.hasSuffix("/gateway-simulator"))
    }

    private static func clear(_ folder: String) async {
        let manager = FileManager.default
        for process in ProcessRecord.all() where process.id != getpid() && isOurs(process, folder) {
            kill(process.id, SIGKILL)
        }
        var cluster = try? PrivateCluster(folder: PrivateCluster.folder(forSite: folder))
        if cluster?.isOwn != true { cluster = nil }
        try? await cluster?.stop(.immediate)
        if manager.fileExists(atPath: folder + "/" + leftoverFile) {
            _ = try? await ToolRun.run("/bin/sh", [folder + "/" + leftoverFile])
        }
        guard !manager.fileExists(atPath: folder + "/" + keptFile) else { return }
        remove(folder, cluster)
    }

    /// Removes a drill's folder. If something is still mounted there, it stays, with the commands that undo the mount.
    ///
    /// - Returns: Whether the folder is gone.
    @discardableResult
    static func remove(_ folder: String, _ cluster: PrivateCluster?) -> Bool {
        let mounts = MountList.current.under([folder, cluster?.folder].compactMap { $0 })
        guard mounts.isEmpty else {
            StandardError.write(
                "\(folder) is kept because these mounts could not be removed: \(mounts.joined(separator: ", "))\n"
            )
            return false
        }
        try? cluster?.remove()
        try? FileManager.default.removeItem(atPath: folder)
        return true
    }
}

extension DrillSite {
    /// Records a shell command that undoes a change outside the site's folder (a mount, a namespace). If this process
    /// is killed, the next drill runs the command. It must be harmless if the change was undone already.
    func leaveNote(_ command: String) {
        DrillFolder.remember(command, in: folder)
    }

    /// Links the cluster's folder into the site's folder, so that a later drill finds it.
    func leaveClusterFolder() throws {
        let link = folder + "/postgres"
        try? FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: cluster.folder)
    }
}

/// Appends to files.
enum AppendedFile {
    /// Appends text to a file. Write errors are ignored.
    static func append(_ text: String, to path: String) {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path) { _ = manager.createFile(atPath: path, contents: nil) }
        guard let handle = FileHandle(forWritingAtPath: path) else { return }
        defer { try? handle.close() }
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: Data(text.utf8))
    }
}

/// The mount points in `/proc/self/mounts`.
struct MountList: Sendable {
    let points: [String]

    /// Parses the list. The second field of each line is the mount point, with blanks as octal escapes.
    init(_ text: String) {
        points = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 ? String(words[1]).replacing("\\040", with: " ") : nil
        }
    }

    /// The current mounts.
    static var current: MountList {
        MountList((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "")
    }

    /// The mount points that are one of these folders or lie below one.
    func under(_ folders: [String]) -> [String] {
        points.filter { point in folders.contains { point == $0 || point.hasPrefix($0 + "/") } }
    }
}
