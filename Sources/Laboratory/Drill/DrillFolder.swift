import Administration
import Foundation

/// The folders of drills, under the temporary folder, where everybody may write.
enum DrillFolder {
    private static let prefix = "pushmta-drill-"
    /// A file that says that the folder is to stay.
    private static let keptFile = "kept"
    /// A file with shell commands that undo what a drill did to the machine, one a line.
    private static let leftoverFile = "leftovers.sh"
    /// The file that the folder's drill holds a lock on.
    private static let lockFile = "lock"

    private static var temporary: String { FileManager.default.temporaryDirectory.standardizedFileURL.path }

    /// Makes an empty folder for a drill of this process, which nobody else can enter, and locks it.
    static func make(_ drill: String, keeps: Bool, in parent: String? = nil) throws -> String {
        let name = "\(parent ?? temporary)/\(prefix)\(getpid())-\(drill)"
        var folder = name
        var number = 1
        // It is made by this call or not at all: one that somebody else made is not used.
        while mkdir(folder, 0o700) != 0 {
            guard errno == EEXIST else {
                throw CommandFailure(.unavailable, "\(folder) cannot be made: \(String(cString: strerror(errno)))")
            }
            number += 1
            folder = "\(name)-\(number)"
        }
        _ = try FolderLock(folder: folder)
        if keeps { _ = FileManager.default.createFile(atPath: folder + "/" + keptFile, contents: nil) }
        return folder
    }

    /// Remembers a shell command that undoes something, for the case that this process is killed.
    static func remember(_ command: String, in folder: String) {
        AppendedFile.append(command + "\n", to: folder + "/" + leftoverFile)
    }

    /// Ends and removes what drills have left that were killed themselves.
    static func clearLeftovers() async {
        for folder in leftovers() { await clear(folder) }
    }

    /// The folders of drills that do not run any more.
    ///
    /// What they say is done, so a folder that somebody else made, or could write in, is none.
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

    /// Whether its drill still runs: then it holds the lock. A process that has got the number of one that is dead does not.
    private static func isInUse(_ folder: String, by id: Int32) -> Bool {
        guard FileManager.default.fileExists(atPath: folder + "/" + lockFile) else {
            // It is being made just now, or an older version made it.
            return id == getpid() || (ProcessRecord(id)?.commandLine.contains("drill") ?? false)
        }
        return (try? FolderLock(folder: folder)) == nil
    }

    /// Whether it is a program of the product that works in this folder.
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

    /// Removes what a drill worked in, unless something is still mounted there: then what undoes it has to stay.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    static func remove(_ folder: String, _ cluster: PrivateCluster?) -> Bool {
        let mounts = MountList.current.under([folder, cluster?.folder].compactMap { $0 })
        guard mounts.isEmpty else {
            StandardError.write("\(folder) stays, as these could not be unmounted: \(mounts.joined(separator: ", "))\n")
            return false
        }
        try? cluster?.remove()
        try? FileManager.default.removeItem(atPath: folder)
        return true
    }
}

extension DrillSite {
    /// Remembers a shell command that undoes something outside of the site's folder (a mount, a namespace): if this process
    /// is killed, the next one runs it. What is remembered has to do no harm when it was undone already.
    func leaveNote(_ command: String) {
        DrillFolder.remember(command, in: folder)
    }

    /// Makes the folder of the cluster known beside the others.
    func leaveClusterFolder() throws {
        let link = folder + "/postgres"
        try? FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: cluster.folder)
    }
}

/// Lines at the end of a file.
enum AppendedFile {
    /// Appends text; what cannot be written is left out.
    static func append(_ text: String, to path: String) {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path) { _ = manager.createFile(atPath: path, contents: nil) }
        guard let handle = FileHandle(forWritingAtPath: path) else { return }
        defer { try? handle.close() }
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: Data(text.utf8))
    }
}

/// Where file systems are mounted, in the words of `/proc/self/mounts`.
struct MountList: Sendable {
    let points: [String]

    /// Reads the list: a line each, whose second word is the mount point with blanks as octal numbers.
    init(_ text: String) {
        points = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 ? String(words[1]).replacing("\\040", with: " ") : nil
        }
    }

    /// What is mounted now.
    static var current: MountList {
        MountList((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "")
    }

    /// The mount points that are one of these folders or lie in one.
    func under(_ folders: [String]) -> [String] {
        points.filter { point in folders.contains { point == $0 || point.hasPrefix($0 + "/") } }
    }
}
