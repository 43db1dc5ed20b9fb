import Foundation

/// The folders of drills, under the temporary folder.
enum DrillFolder {
    private static let prefix = "pushmta-drill-"
    /// A file that says that the folder is to stay.
    private static let keptFile = "kept"
    /// A file with shell commands that undo what a drill did to the machine, one a line.
    private static let leftoverFile = "leftovers.sh"

    private static var parent: String { FileManager.default.temporaryDirectory.standardizedFileURL.path }

    /// Makes an empty folder for a drill of this process.
    static func make(_ drill: String, keeps: Bool) throws -> String {
        let name = "\(prefix)\(getpid())-\(drill)"
        var folder = parent + "/" + name
        var number = 1
        while FileManager.default.fileExists(atPath: folder) {
            number += 1
            folder = "\(parent)/\(name)-\(number)"
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if keeps { _ = FileManager.default.createFile(atPath: folder + "/" + keptFile, contents: nil) }
        return folder
    }

    /// Remembers a shell command that undoes something, for the case that this process is killed.
    static func remember(_ command: String, in folder: String) {
        AppendedFile.append(command + "\n", to: folder + "/" + leftoverFile)
    }

    /// Ends and removes what drills have left that were killed themselves.
    static func clearLeftovers() async {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            let owner = name.dropFirst(prefix.count).prefix { $0.isNumber }
            guard let id = Int32(owner), id != getpid(), !isDrill(id) else { continue }
            await clear(parent + "/" + name)
        }
    }

    private static func isDrill(_ id: Int32) -> Bool {
        ProcessRecord(id)?.commandLine.contains("drill") ?? false
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
        let cluster = try? PrivateCluster(folder: PrivateCluster.folder(forSite: folder))
        try? await cluster?.stop(.immediate)
        if manager.fileExists(atPath: folder + "/" + leftoverFile) {
            _ = try? await ToolRun.run("/bin/sh", [folder + "/" + leftoverFile])
        }
        guard !manager.fileExists(atPath: folder + "/" + keptFile) else { return }
        try? cluster?.remove()
        try? manager.removeItem(atPath: folder)
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
