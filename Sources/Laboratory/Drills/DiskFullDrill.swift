import Administration
import Foundation
import Store
import SystemPackage

/// The database's disk repeatedly fills up and is freed again.
struct DiskFullDrill: Drill {
    let name = "disk-full"
    let summary = "PostgreSQL's disk (a small tmpfs) filled up and freed"
    let promise = "lost 0, duplicates 0, and sending resumes automatically with PostgreSQL"
    let needs: [DrillNeed] = [.root, .tool("mount", package: "mount")]

    /// How long the server may take until it needs space.
    private static let timeout = Duration.seconds(15)

    /// Space for the cluster, a little WAL and the outcomes of some deliveries, in MiB.
    private static let megabytes = 1_500

    func run(_ site: DrillSite) async throws {
        site.configureCluster { $0.extraSettings += "max_wal_size = 128MB\nmin_wal_size = 32MB\n" }
        let disk = SmallDisk(folder: site.cluster.data, megabytes: Self.megabytes, owner: site.cluster.user)
        site.onCleanup { await disk.unmount() }
        site.leaveNote(disk.removalCommand)
        try await site.cluster.makeFolder()
        try await disk.mount()
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 80))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        for number in 1...minimumFaults {
            if number.isMultiple(of: 5) {
                try await site.untilHit {
                    try await site.outage("the database's disk is full", rate: rate) {
                        try await fillAndFree(site, disk)
                    }
                }
            } else {
                _ = try await site.untilHit {
                    try await site.fault("the database's disk is full") { try await fillAndFree(site, disk) }
                }
            }
            try await site.pause(milliseconds: 0...1_500)
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    private func fillAndFree(_ site: DrillSite, _ disk: SmallDisk) async throws {
        let before = refusals(site)
        do {
            try disk.fill()
            try await site.pause(milliseconds: 500...4_000)
            // WAL segments are recycled, so the server may need no space for a while.
            try? await site.until("PostgreSQL finds no space", within: Self.timeout) { refusals(site) > before }
        } catch {
            disk.free()
            throw error
        }
        disk.free()
        try await untilItRuns(site)
        guard refusals(site) > before else { throw FaultMiss("PostgreSQL needed no space while its disk was full") }
    }

    /// How often the server has found no space, according to its log.
    private func refusals(_ site: DrillSite) -> Int {
        let log = (try? String(contentsOfFile: site.cluster.log, encoding: .utf8)) ?? ""
        return log.split(separator: "\n").count { $0.contains("No space left on device") }
    }

    private func untilItRuns(_ site: DrillSite) async throws {
        // A server that could not write its WAL has shut down. It is started again, as an administrator would do.
        try await site.until("PostgreSQL after its disk was full", within: .seconds(60), every: .milliseconds(200)) {
            if await !site.cluster.isRunning() {
                site.note("PostgreSQL has shut down and is started again")
                try? await site.cluster.start()
            }
            return await site.cluster.isRunning()
        }
    }
}

/// A tmpfs of a fixed size, mounted on a folder, so that it can be filled up.
struct SmallDisk: Sendable {
    /// The sizes of a write while it is filled up, in bytes: large ones first, and single pages at the end.
    private static let steps = [1 << 20, 4096]

    /// The mount point.
    let folder: String
    /// The capacity, in MiB.
    let megabytes: Int
    /// The owner; `nil`: the caller.
    let owner: SystemUser?

    private var filler: FilePath { FilePath(folder + "/filler") }

    /// Mounts it, empty. If an earlier run left one mounted, that one is unmounted first.
    ///
    /// - Throws: `CommandFailure` unless the caller is root.
    func mount() async throws {
        guard getuid() == 0 else {
            throw CommandFailure(.unavailable, "Mounting a file system needs root: run this drill as root")
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

    /// Frees the space that `fill` took.
    func free() {
        try? FileManager.default.removeItem(atPath: filler.string)
    }

    /// The shell command that unmounts it.
    var removalCommand: String { "umount -l '\(folder)'" }

    /// Unmounts it, which removes its contents. It is not an error if it is not mounted. The unmount is lazy, so a
    /// process that still uses it, such as a server about to end, does not prevent it.
    func unmount() async {
        guard let tool = try? Executables.tool("umount", package: "mount") else { return }
        _ = try? await ToolRun.run(tool, ["-l", folder])
    }
}
